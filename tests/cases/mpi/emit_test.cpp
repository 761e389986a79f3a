#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cases/cli.hpp"

/// Programs in C that `replay --emit c` prints, built and run with the library of the build.
namespace rankcheck {
namespace {

using tests::Outcome;

class EmitTest : public tests::CliTest {
 protected:
  /// Writes the program of a case, and builds and runs it. It must end with this status.
  Outcome run(const std::string& text, int status) {
    const std::string launcher =
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader "
        "OMPI_MCA_rmaps_base_oversubscribe=1 ";
    passes("replay --emit c '" + text + "' > p.c");
    shell("mpicc -std=gnu99 -Wall -Wextra -Werror -o p p.c -lm", 0);
    Outcome outcome =
        shell(launcher + "timeout 60 $(grep -o 'mpiexec -n [0-9]*' p.c) ./p 2>&1", status);
    if (outcome.status != status) ADD_FAILURE() << text << '\n' << text_of("p.c");
    return outcome;
  }
};

TEST_F(EmitTest, HoldsWhereTheLibraryIsRight) {
  const std::string begin = R"({"backend":"mpi","algorithm":")";
  for (const std::string each : {
           R"(blocking","operation":"all_gather","ranks":3,"count":2,"type":"f16"})",
           R"(nonblocking","operation":"all_gather_v","ranks":3,"counts":[2,0,1],"gap":1})",
           R"(blocking","operation":"all_reduce","ranks":4,"count":3,"op":"sum"})",
           R"(nonblocking","operation":"all_to_all","ranks":2,"count":1,"type":"complex64"})",
           R"(blocking","operation":"all_to_all_v","ranks":2,"counts":[1,2,0,3],"type":"f64"})",
           R"(blocking","operation":"barrier","ranks":3})",
           R"(blocking","operation":"broadcast","ranks":4,"group":[3,1],"root":1,"count":2})",
           R"(blocking","operation":"gather","ranks":3,"root":1,"count":2,"in_place":true})",
           R"(blocking","operation":"gather_v","ranks":2,"counts":[0,3],"send_stride":2})",
           R"(blocking","operation":"reduce","ranks":3,"root":2,"count":2,"op":"prod"})",
           R"(blocking","operation":"reduce_scatter","ranks":2,"count":2,"op":"max"})",
           R"(nonblocking","operation":"reduce_scatter_v","ranks":2,"counts":[1,0],"op":"sum"})",
           R"(blocking","operation":"scatter","ranks":2,"root":1,"count":1,"in_place":true})",
           R"(tuned_ring","operation":"all_gather","ranks":3,"count":2,"type":"uint64"})",
       }) {
    if (each.starts_with("tuned") && !has(shell("mpicc --showme:version 2>&1").out, "Open MPI 4")) {
      continue;
    }
    run(begin + each, 0);
  }
}

/// Calls that overlap, of smaller groups, and a communicator that is made anew.
TEST_F(EmitTest, MakesEarlierCalls) {
  const std::string begin =
      R"({"operation":"all_reduce","backend":"mpi","property":"is_independent_of_history",)"
      R"("ranks":3,"count":1,"op":"sum","earlier":[)";
  run(begin + R"({"operation":"broadcast","group":[2,0],"count":2,"type":"int8","overlaps":true},)"
              R"({"operation":"gather","root":1,"count":1,"type":"f64","data_seed":2}]})",
      0);
  EXPECT_TRUE(has(text_of("p.c"), "MPI_Ibcast(")) << text_of("p.c");
  run(begin + R"({"operation":"all_gather","group":[1,2],"count":1,"frees":true},)"
              R"({"operation":"all_gather","group":[1,2],"count":1}]})",
      0);
  EXPECT_TRUE(has(text_of("p.c"), "MPI_Comm_free(&group_1)")) << text_of("p.c");
}

TEST_F(EmitTest, FailsOnEveryRankWhereTheLibraryIsWrong) {
  // The library is right, so the last element of each row of a table is changed.
  run(R"({"operation":"all_to_all","backend":"mpi","ranks":2,"count":1})", 0);
  const std::string spoil = R"(sed -i 's/    {\(.*\), \([^,]*\)},/    {\1, 99},/' p.c)";
  shell(spoil + " && mpicc -o p p.c -lm", 0);
  const Outcome outcome = shell(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 mpiexec -n 2 "
      "sh -c './p; echo status $?' 2>&1");
  EXPECT_TRUE(has(outcome.out, "call 1: rank 1, element 1: expected 99, got ")) << outcome.out;
  EXPECT_FALSE(has(outcome.out, "status 0")) << outcome.out;
}

TEST_F(EmitTest, WhatCannotBeAProgramIsRefusedInOneLine) {
  const auto refused = [&](const std::string& fields, const std::string& says) {
    const Outcome outcome = rankcheck("replay --emit c '{" + fields + "}'", 2);
    EXPECT_TRUE(has(outcome.err, says)) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  };
  const std::string sum = R"("operation":"all_reduce","backend":"mpi","ranks":2,"op":)";
  refused(sum + R"("sum","count":1000)", "--emit c: count: a rank has 2000 elements");
  refused(sum + R"("avg","count":1)", "--emit c: op: expected an op that MPI has");
  refused(sum + R"("sum","count":1,"type":"bf16")", "--emit c: type: MPI has no reductions of it");
  refused(R"("operation":"all_to_all_v","backend":"mpi","algorithm":"typed","ranks":1,)"
          R"("counts":[1])",
          "--emit c: algorithm: got typed, expected one call of MPI");
  refused(R"("operation":"broadcast","backend":"sim","ranks":2,"count":1)",
          "--emit c: backend: got sim, expected mpi");
  const Outcome other = rankcheck(R"(replay --emit java '{"operation":"barrier"}')", 2);
  EXPECT_TRUE(has(other.err, "--emit: got java, expected c")) << other.err;
}

}  // namespace
}  // namespace rankcheck
