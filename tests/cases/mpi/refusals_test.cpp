#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

/// Open MPI has a single algorithm for all_to_all in place, so none of the forced algorithms takes
/// it.
class MpiRefusalsTest : public tests::CliTest {};

TEST_F(MpiRefusalsTest, AreSkippedChecks) {
  const tests::Outcome outcome = rankcheck(
      "run --backend mpi --operation all_to_all --algorithm tuned_pairwise --ranks 2 --cases 3 "
      "--property in_place_equals_out_of_place --report r");
  // Nothing that the user asked for could be run.
  EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
  EXPECT_NE(outcome.last_line().find(" 1 skipped (1 not_supported)"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.out.find("left out"), std::string::npos) << outcome.out;
}

TEST_F(MpiRefusalsTest, EndACyclingSuiteWhereNothingIsLeftToCheck) {
  harness::write_file(folder_.path() / "s.json",
                      R"({"name":"s","summary":"s","cycles":true,"time_limit_s":60,"entries":[)"
                      R"({"backends":["mpi"],"operation":"all_to_all","ranks":[2,2],)"
                      R"("algorithm":"tuned_pairwise",)"
                      R"("property":"in_place_equals_out_of_place"}]})");
  const tests::Outcome outcome = rankcheck("run s.json --report r");
  EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
  EXPECT_EQ(report("r")["environment"]["rounds"], 1);
}

}  // namespace
}  // namespace rankcheck
