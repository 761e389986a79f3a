#include "cases/commands/report.hpp"

#include <string>

#include <gtest/gtest.h>

namespace rankcheck::cases {
namespace {

/// Returns the report of a run whose time was over, with this environment.
harness::Report ended_early(const nlohmann::ordered_json& environment) {
  harness::Report report;
  report.ending = "time_over";
  report.environment = environment;
  return report;
}

TEST(HowToGoOnTest, ProposesTwiceTheTimeThatWasSpent) {
  EXPECT_EQ(
      how_to_go_on(ended_early({{"duration_s", 3.2}, {"time_budget_s", 2}}), "r", "rankcheck"),
      "ended early (time_over); to continue: rankcheck run --resume r --time-budget 7");
}

TEST(HowToGoOnTest, ProposesTheBudgetOfEachCallOfAGate) {
  const std::string without_time = "ended early (time_over); to continue: rankcheck run --resume r";
  const nlohmann::ordered_json hardware = nlohmann::ordered_json::object();
  EXPECT_EQ(
      how_to_go_on(ended_early({{"hardware", hardware}, {"duration_s", 9}, {"time_budget_s", 2.5}}),
                   "r",
                   "rankcheck"),
      without_time + " --time-budget 2.5");
  // The budget of a gate that has none must not be proposed as 0, which would be refused.
  EXPECT_EQ(
      how_to_go_on(ended_early({{"hardware", hardware}, {"duration_s", 9}}), "r", "rankcheck"),
      without_time);
}

TEST(HowToGoOnTest, KeepsTheJobsOfAGate) {
  nlohmann::ordered_json environment{{"jobs", 8}, {"time_budget_s", 2}};
  EXPECT_EQ(how_to_go_on(ended_early(environment), "r", "rankcheck").find("--jobs"),
            std::string::npos);
  environment["hardware"] = nlohmann::ordered_json::object();
  EXPECT_EQ(
      how_to_go_on(ended_early(environment), "r", "rankcheck"),
      "ended early (time_over); to continue: rankcheck run --resume r --jobs 8 --time-budget 2");
}

TEST(HowToGoOnTest, TakesATimeThatIsNoNumberForNone) {
  const std::string without_time = "ended early (time_over); to continue: rankcheck run --resume r";
  EXPECT_EQ(how_to_go_on(
                ended_early({{"duration_s", "x"}, {"time_budget_s", nullptr}}), "r", "rankcheck"),
            without_time);
  EXPECT_EQ(how_to_go_on(ended_early({}), "r", "rankcheck"), without_time);
}

/// The journal is untrusted: anyone may have written it.
TEST(HowToGoOnTest, IsOneShortLineWhateverTheEndingIs) {
  harness::Report report;
  report.ending = "a\nb\x1b[31m" + std::string(1000, 'x');
  const std::string hint = how_to_go_on(report, "r", "rankcheck");
  EXPECT_TRUE(hint.starts_with("ended early (a b?[31mxxx")) << hint;
  EXPECT_LT(hint.size(), 120U);
}

}  // namespace
}  // namespace rankcheck::cases
