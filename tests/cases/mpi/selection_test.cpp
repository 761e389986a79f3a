#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

/// Without a launcher, MPI's worker is a world of one rank that speaks the protocol on its standard
/// streams. rankcheck treats it as a user's own worker.
class MpiSelectionTest : public tests::CliTest {};

const std::string own = "command:" RANKCHECK_BINARY_DIR "/rankcheck-worker-mpi";

TEST_F(MpiSelectionTest, SuitesRunOnABackendOfTheUsersOwn) {
  const std::string run = "run smoke --backend " + harness::shell_quoted(own) +
                          " --operation broadcast --algorithm blocking --cases 5 --report ";
  const tests::Outcome outcome = rankcheck(run + "r --ranks 1");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const nlohmann::json findings = report("r")["findings"];
  ASSERT_FALSE(findings.empty());
  for (const nlohmann::json& finding : findings) EXPECT_EQ(finding["unit"]["backend"], own);
}

/// Without a launcher, the worker is a world of one rank.
TEST_F(MpiSelectionTest, RanksThatNobodyHostsAreVacuous) {
  const std::string run = "run smoke --backend " + harness::shell_quoted(own) +
                          " --operation broadcast --algorithm blocking --cases 5 --report ";
  for (const auto& [ranks, expected] : {std::pair{"", "2"}, std::pair{" --ranks 1..8", "8"}}) {
    const tests::Outcome outcome = rankcheck(run + "r" + expected + ranks);
    EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find(std::string("no case had more than 1 rank, expected one of ") +
                               expected + " ranks"),
              std::string::npos)
        << outcome.out;
  }
}

TEST_F(MpiSelectionTest, WhatSmokeHasNothingOfIsSelectedFromAll) {
  const tests::Outcome outcome = rankcheck(
      "run --backend mpi --operation broadcast --algorithm nonblocking "
      "--property splits --cases 1 --report r");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(report("r")["run"]["suites"], nlohmann::json({"all"}));
}

}  // namespace
}  // namespace rankcheck
