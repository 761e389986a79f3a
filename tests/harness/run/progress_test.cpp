#include "harness/run/progress.hpp"

#include <gtest/gtest.h>

#include "tests/harness/sample.hpp"

namespace rankcheck::harness::run {
namespace {

using Clock = std::chrono::steady_clock;

TEST(ProgressTest, OfARunThatRepeatsItselfEndsWithItsTime) {
  Progress progress("rankcheck", Clock::now() + std::chrono::hours(1));
  progress.begin_round(4, 0, 1);
  progress.show(sample_finding("all_reduce", Verdict::passed));
  const std::string line = progress.line();
  EXPECT_TRUE(line.starts_with("1/4 units, 0 cases, ")) << line;
  EXPECT_TRUE(line.ends_with(", 3600 s left")) << line;
}

TEST(ProgressTest, TellsNoTimeBeforeTheFirstFinding) {
  Progress progress("rankcheck", std::nullopt);
  progress.begin_round(4, 3, 100);
  EXPECT_TRUE(progress.line().ends_with(", ...")) << progress.line();
}

TEST(ProgressTest, OfOneRoundEndsWithItsCases) {
  Finding whole = sample_finding("all_reduce", Verdict::passed);
  Progress progress("rankcheck", std::nullopt);
  progress.begin_round(1, 0, whole.unit.cases);
  progress.show(whole);
  EXPECT_TRUE(progress.line().ends_with(", 0 s left")) << progress.line();
}

TEST(ProgressTest, OfAResumedRunGoesOnWhereTheOneBeforeStopped) {
  Finding last = sample_finding("all_reduce", Verdict::passed);
  Progress progress("rankcheck", std::nullopt);
  progress.begin_round(4, 3, last.unit.cases);
  EXPECT_TRUE(progress.line().starts_with("3/4 units, ")) << progress.line();
  progress.show(last);
  const std::string line = progress.line();
  EXPECT_TRUE(line.starts_with("4/4 units, ") && line.ends_with(", 0 s left")) << line;
}

}  // namespace
}  // namespace rankcheck::harness::run
