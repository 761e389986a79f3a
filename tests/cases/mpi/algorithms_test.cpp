#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cases/backends/mpi.hpp"
#include "cases/backends/mpi_launch.hpp"
#include "tests/cases/cli.hpp"
#include "tests/harness/schema.hpp"

/// Algorithms that the MPI library is forced to take, and calls with its derived types. The worker
/// throws if a component did not run, or left a call to another one.
namespace rankcheck {
namespace {

using nlohmann::json;
using tests::Outcome;

class MpiAlgorithmsTest : public tests::CliTest {
 protected:
  void SetUp() override {
    const std::string why = cases::mpi_backend().why_unavailable();
    if (!why.empty()) GTEST_SKIP() << why;
    version_ = cases::mpi_backend().describe({}).value("mpi", "");
  }

  /// Whether the library offers an algorithm for broadcasts.
  bool offers(const std::string& algorithm) {
    const Outcome listed = rankcheck("list --json --backend mpi --operation broadcast");
    return listed.out.find(algorithm) != std::string::npos;
  }

  /// Another version may have the defects of this one, or not.
  [[nodiscard]] bool is_open_mpi_4_1_4() const {
    return version_.find("Open MPI v4.1.4") != std::string::npos;
  }
  /// The option with the defects of Open MPI 4.1.4.
  const std::string known_ =
      " --known " + harness::shell_quoted(RANKCHECK_SOURCE_DIR "/cases/known/open-mpi.json") + ' ';

  /// Replays a case with these fields once.
  Outcome replay(const std::string& fields) {
    return rankcheck(R"(replay --times 1 '{"backend":"mpi",)" + fields + "}'");
  }
  void expect_passed(const std::string& fields) {
    const Outcome outcome = replay(fields);
    EXPECT_EQ(outcome.status, 0) << fields << outcome.err;
    EXPECT_TRUE(has(outcome.out, "verdict    passed")) << fields;
  }
  /// Expects that such a case is refused, and why.
  void expect_refused(const std::string& fields, const std::string& why) {
    const Outcome outcome = replay(fields);
    EXPECT_EQ(outcome.status, 2) << fields << outcome.out;
    EXPECT_TRUE(has(outcome.err, why)) << fields;
  }

  std::string version_;
};

class MpiAdaptTest : public MpiAlgorithmsTest {
 protected:
  void SetUp() override {
    if (!offers("adapt_binomial")) GTEST_SKIP() << "the MPI library has no coll/adapt";
  }
};

TEST_F(MpiAdaptTest, LeavesOneRankToAnotherComponent) {
  expect_refused(R"("operation":"broadcast","algorithm":"adapt_chain","ranks":1,"count":3)",
                 "ranks: with one rank, Open MPI uses coll/self");
}

class MpiTransportTest : public MpiAlgorithmsTest {
 protected:
  void SetUp() override {
    if (!offers("over_tcp")) GTEST_SKIP() << "the MPI library has no component btl/tcp";
  }
  const std::string over_tcp_ =
      R"("operation":"broadcast","algorithm":"over_tcp","count":3,"ranks":)";
};

TEST_F(MpiTransportTest, CarriesMessagesInSeveralParts) {
  for (const std::string algorithm : {"over_tcp", "over_cma", "over_ucx"}) {
    const Outcome outcome =
        replay(R"("operation":"broadcast","ranks":3,"type":"f64","count":200000,"algorithm":")" +
               algorithm + '"');
    if (outcome.err.find("algorithm: ") != std::string::npos) continue;
    EXPECT_TRUE(has(outcome.out, "verdict    passed")) << algorithm;
  }
}

TEST_F(MpiTransportTest, IsNotBelievedWithoutItsComponent) {
  install();
  write_script("bin/rankcheck-worker-mpi",
               "OMPI_MCA_btl=self,vader exec '" RANKCHECK_BINARY_DIR "/rankcheck-worker-mpi'\n");
  const Outcome outcome = replay(over_tcp_ + "2");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "over_tcp: forced, but mca_btl_tcp was not loaded"));
}

TEST_F(MpiTransportTest, IsForSeveralRanksOfOneHost) {
  expect_refused(over_tcp_ + "1", "ranks: with one rank, no data goes from process to process");
  const Outcome outcome = replay(over_tcp_ + R"(2,"hosts":[0,1])");
  EXPECT_TRUE(has(outcome.err, "hosts: forced transports work on one host only") ||
              has(outcome.err, "hosts: the system"))
      << outcome.err;
}

/// Open MPI 4.1.4 compares MPI_UNSIGNED_LONG, but not MPI_UINT64_T, as if it were signed.
TEST_F(MpiAlgorithmsTest, OfCTypesShowThatUnsignedLongIsComparedAsSigned) {
  if (!is_open_mpi_4_1_4()) GTEST_SKIP() << "another version: " << version_;
  const std::string run =
      "run --backend mpi --algorithm c_types --operation all_reduce --type uint64 "
      "--property agrees_with_reference --ranks 2..3 --cases 20 --report ";
  fails(run + "out");
  for (const json& each : findings("out")) {
    EXPECT_EQ(each.at("verdict"), "falsified") << each;
    if (each.at("unit").contains("pinned")) continue;
    const json& minimal = each.at("minimal");
    EXPECT_EQ(minimal.at("ranks"), 2) << minimal;
    EXPECT_EQ(minimal.at("count"), 1) << minimal;
  }
  // Known failures end no run.
  passes(run + "known" + known_);
}

/// Lists of arrays on the command line.
TEST_F(MpiAlgorithmsTest, TakeListsWithEmptyArraysAndWithoutArrays) {
  for (const std::string counts : {"[0,1,5,0,7]", "[]"}) {
    expect_passed(R"("operation":"all_reduce_list","algorithm":"nonblocking","ranks":3,"gap":3,)"
                  R"("type":"int32","op":"sum","input":"coded","counts":)" +
                  counts);
  }
}

/// Buffers whose elements lie apart, as derived types of MPI.
class MpiStridesTest : public MpiAlgorithmsTest {
 protected:
  /// The beginnings of cases with strides that differ on sender and receiver.
  const std::string three_ranks_ = R"("ranks":3,"type":"int32",)";
  const std::string strides_ = three_ranks_ + R"("send_stride":3,"recv_stride":2,"operation":)";
  const std::string wide_receiver_ =
      three_ranks_ + R"("send_stride":2,"recv_stride":4,"operation":)";
};

TEST_F(MpiStridesTest, WorkInBlocksOfDerivedTypes) {
  for (const auto& [algorithm, operation] : {std::pair{"vector", "broadcast"},
                                             std::pair{"vector", "all_to_all"},
                                             std::pair{"indexed", "gather"},
                                             std::pair{"indexed", "scatter"},
                                             std::pair{"struct", "all_gather"}}) {
    expect_passed(strides_ + '"' + operation + R"(","count":7,"algorithm":")" + algorithm + '"');
  }
}

TEST_F(MpiStridesTest, WorkWithGapsInPlaceAndWithRequestsThatAreStartedTwice) {
  expect_passed(wide_receiver_ +
                R"("gather_v","algorithm":"nonblocking","root":2,"counts":[2,0,3],"gap":1)");
  expect_passed(wide_receiver_ +
                R"("all_gather","algorithm":"blocking","count":3,"in_place":true)");
  expect_passed(wide_receiver_ + R"("scatter","algorithm":"persistent","count":3)");
}

TEST_F(MpiStridesTest, AreRefusedForReductions) {
  expect_refused(three_ranks_ + R"("send_stride":2,"operation":"all_reduce",)"
                                R"("algorithm":"blocking","count":3,"op":"max")",
                 "MPI's own reductions take only dense elements");
}

/// Ranks of Open MPI on several hosts of this machine.
class MpiHostsTest : public MpiAlgorithmsTest {
 protected:
  void SetUp() override {
    MpiAlgorithmsTest::SetUp();
    if (IsSkipped()) return;
    if (!version_.starts_with("Open MPI")) GTEST_SKIP() << "another library: " << version_;
    const std::string forbidden = cases::why_no_mpi_hosts(cases::mpi_launcher(), version_, {});
    if (!forbidden.empty()) GTEST_SKIP() << forbidden;
  }

  const std::string run_han_ =
      "run --backend mpi --algorithm han --property agrees_with_reference --hosts 0,0,1,1 "
      "--report out" +
      known_;
};

TEST_F(MpiHostsTest, HanRunsOnTwoHosts) {
  const Outcome outcome = passes(run_han_ + "--cases 12");
  EXPECT_EQ(harness::complaints(report("out")), "");
  int generated = 0;
  for (const json& each : findings("out")) {
    if (each.at("unit").contains("pinned")) continue;
    ++generated;
    EXPECT_EQ(each.at("unit").at("hosts"), (json{0, 0, 1, 1}));
    EXPECT_EQ(each.at("unit").at("variant"), "hosts_0_0_1_1");
    EXPECT_TRUE(each.at("verdict") == "passed" || each.contains("is_known")) << each;
  }
  EXPECT_EQ(generated, 6) << outcome.out;
}

TEST_F(MpiHostsTest, HanInPlaceEndsRanksBehindOneSegment) {
  if (!is_open_mpi_4_1_4()) GTEST_SKIP() << "another version: " << version_;
  // Nothing of `smoke` is on hosts, so this is a run of `all`.
  const Outcome outcome = passes(run_han_ + "--cases 1 --operation reduce,all_reduce");
  std::map<std::string, std::string> pinned;
  for (const json& each : findings("out")) {
    if (!each.at("unit").contains("pinned")) continue;
    pinned[each.at("unit").at("pinned")] = each.at("verdict");
  }
  EXPECT_EQ(pinned,
            (std::map<std::string, std::string>{{"all_reduce/han_in_place", "crashed"},
                                                {"reduce/han_in_place", "crashed"}}))
      << outcome.out;
}

TEST_F(MpiHostsTest, AReplaySaysWhichAlgorithmRan) {
  const Outcome outcome =
      passes(R"(replay '{"operation":"all_reduce","backend":"mpi","algorithm":"han","ranks":4,)"
             R"("hosts":[0,1,1,0],"count":5,"type":"int32","op":"sum","input":"coded"}')");
  EXPECT_TRUE(has(outcome.out, "han"));
}

TEST_F(MpiHostsTest, HanRefusesHostsForWhichItGivesWay) {
  for (const auto& [hosts, why] :
       {std::pair{"[]", "han needs members on several hosts"},
        std::pair{"[0,1,2,3]", "han needs a host with two members or more"},
        std::pair{"[0,0,0,1]", "han needs as many members on each host"},
        std::pair{"[0,1,0,1]", "han needs the members of a host one behind another"}}) {
    expect_refused(R"("operation":"gather","algorithm":"han","ranks":4,"count":5,"hosts":)" +
                       std::string(hosts),
                   why);
  }
}

/// Such a launcher has options of its own.
TEST_F(MpiHostsTest, AnotherLauncherHasNoHosts) {
  write_script("launch.sh", "exec mpirun \"$@\"\n");
  surroundings_ = "RANKCHECK_MPIEXEC=$PWD/launch.sh ";
  expect_unable(
      R"(replay '{"operation":"barrier","backend":"mpi","algorithm":"blocking","ranks":2,)"
      R"("hosts":[0,1]}')",
      "hosts: only mpirun and mpiexec start ranks on several hosts");
}

TEST_F(MpiHostsTest, BadHostsAreOneLine) {
  expect_unable("run smoke --backend mpi --hosts 0,2",
                "--hosts: got [0,2], expected two hosts or more");
  expect_unable("run --operation all_reduce --backend mpi --algorithm han --cases 3",
                "expected at least one that 'rankcheck list' shows; han needs several hosts, such "
                "as --hosts 0,0,1,1");
}

}  // namespace
}  // namespace rankcheck
