#include <string>

#include <gtest/gtest.h>

#include "cases/backends/mpi.hpp"
#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

/// Lists of arrays on the command line.
class MpiListsTest : public tests::CliTest {};

TEST_F(MpiListsTest, ReplayListsWithEmptyArraysAndWithoutArrays) {
  const std::string why = cases::mpi_backend().why_unavailable();
  if (!why.empty()) GTEST_SKIP() << why;
  for (const std::string counts : {"[0,1,5,0,7]", "[]"}) {
    const tests::Outcome outcome = rankcheck(
        R"(replay '{"operation":"all_reduce_list","backend":"mpi","algorithm":"nonblocking",)"
        R"("ranks":3,"counts":)" +
        counts + R"(,"gap":3,"type":"int32","op":"sum","input":"coded"}')");
    EXPECT_EQ(outcome.status, 0) << counts << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("verdict    passed"), std::string::npos) << outcome.out;
  }
}

}  // namespace
}  // namespace rankcheck
