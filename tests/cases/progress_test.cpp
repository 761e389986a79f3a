#include "cases/commands/progress.hpp"

#include <gtest/gtest.h>

#include "tests/harness/sample.hpp"

namespace rankcheck::cases {
namespace {

using Clock = std::chrono::steady_clock;
using harness::sample_finding;
using harness::Verdict;

TEST(Progress, OfARunThatRepeatsItselfEndsWithItsTime) {
  Progress progress("rankcheck", 1, 4, Clock::now() + std::chrono::hours(1));
  progress.show(sample_finding("all_reduce", Verdict::passed));
  const std::string line = progress.line();
  EXPECT_TRUE(line.starts_with("1/4 units, 0 cases, ")) << line;
  EXPECT_TRUE(line.ends_with(", 3600 s left")) << line;
}

TEST(Progress, TellsNoTimeBeforeTheFirstFinding) {
  const Progress progress("rankcheck", 100, 4, std::nullopt);
  EXPECT_TRUE(progress.line().ends_with(", ...")) << progress.line();
}

TEST(Progress, OfOneRoundEndsWithItsCases) {
  harness::Finding whole = sample_finding("all_reduce", Verdict::passed);
  Progress progress("rankcheck", whole.unit.cases, 1, std::nullopt);
  progress.show(whole);
  EXPECT_TRUE(progress.line().ends_with(", 0 s left")) << progress.line();
}

}  // namespace
}  // namespace rankcheck::cases
