#include "cases/commands/report.hpp"

#include <string>

#include <gtest/gtest.h>

namespace rankcheck::cases {
namespace {

/// Returns the hint for the run in the folder r, whose time was over, with this environment.
std::string hint_of(const nlohmann::ordered_json& environment) {
  harness::Report report;
  report.ending = "time_over";
  report.environment = environment;
  return how_to_go_on(report, "r", "rankcheck");
}

const std::string without_time = "ended early (time_over); to continue: rankcheck run --resume r";

TEST(HowToGoOnTest, ProposesTwiceTheTimeThatWasSpent) {
  EXPECT_EQ(hint_of({{"duration_s", 3.2}, {"time_budget_s", 2}}),
            without_time + " --time-budget 7");
}

TEST(HowToGoOnTest, ProposesTheBudgetOfEachCallOfAGate) {
  nlohmann::ordered_json environment{{"hardware", nlohmann::ordered_json::object()},
                                     {"duration_s", 9}};
  // The budget of a gate that has none must not be proposed as 0, which would be refused.
  EXPECT_EQ(hint_of(environment), without_time);
  environment["time_budget_s"] = 2.5;
  EXPECT_EQ(hint_of(environment), without_time + " --time-budget 2.5");
}

TEST(HowToGoOnTest, KeepsTheJobsOfAGate) {
  nlohmann::ordered_json environment{{"jobs", 8}, {"time_budget_s", 2}};
  EXPECT_EQ(hint_of(environment).find("--jobs"), std::string::npos);
  environment["hardware"] = nlohmann::ordered_json::object();
  EXPECT_EQ(hint_of(environment), without_time + " --jobs 8 --time-budget 2");
}

TEST(HowToGoOnTest, TakesATimeThatIsNoNumberForNone) {
  EXPECT_EQ(hint_of({{"duration_s", "x"}, {"time_budget_s", nullptr}}), without_time);
  EXPECT_EQ(hint_of({}), without_time);
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
