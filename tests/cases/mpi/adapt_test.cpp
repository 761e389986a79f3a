#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

class MpiAdaptTest : public tests::CliTest {
 protected:
  void SetUp() override {
    const tests::Outcome listed = rankcheck("list --json --backend mpi --operation broadcast");
    if (listed.out.find("adapt_binomial") == std::string::npos)
      GTEST_SKIP() << "the MPI library has no coll/adapt";
  }
};

/// The worker throws if the component did not run, or left a call to another one.
TEST_F(MpiAdaptTest, RunsEachOfItsAlgorithms) {
  const tests::Outcome outcome = rankcheck(
      "run --backend mpi --algorithm 'adapt_*' --property agrees_with_reference --ranks 2..4 "
      "--cases 12 --report r");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const nlohmann::json findings = report("r").at("findings");
  EXPECT_EQ(findings.size(), 12U) << outcome.out;
  for (const nlohmann::json& each : findings) EXPECT_EQ(each.at("verdict"), "passed") << each;
}

TEST_F(MpiAdaptTest, LeavesOneRankToAnotherComponent) {
  const tests::Outcome outcome =
      rankcheck(R"(replay '{"operation":"broadcast","backend":"mpi","algorithm":"adapt_chain",)"
                R"("ranks":1,"count":3}')");
  EXPECT_NE(outcome.err.find("ranks: with one rank, Open MPI uses coll/self"), std::string::npos)
      << outcome.out << outcome.err;
}

}  // namespace
}  // namespace rankcheck
