#include "harness/run/progress.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness::run {
namespace {

using Clock = std::chrono::steady_clock;

TEST(ProgressTest, OfARunThatRepeatsItselfEndsWithItsTime) {
  Progress progress({.rounds_end = Clock::now() + std::chrono::hours(2)});
  progress.begin_round(4, 0, 1);
  progress.show(passed("all_reduce"));
  const std::string line = progress.line();
  EXPECT_TRUE(begins(line, "1/4 units, 0 cases, "));
  EXPECT_TRUE(ends(line, ", 2.0 h left"));
}

TEST(ProgressTest, TellsNoTimeBeforeTheFirstFinding) {
  Progress progress({});
  progress.begin_round(4, 3, 100);
  EXPECT_TRUE(ends(progress.line(), ", ..."));
}

TEST(ProgressTest, OfOneRoundEndsWithItsCases) {
  Finding whole = passed("all_reduce");
  Progress progress({});
  progress.begin_round(1, 0, whole.unit.cases);
  progress.show(whole);
  EXPECT_TRUE(ends(progress.line(), ", 0 s left"));
}

TEST(ProgressTest, OfAResumedRunGoesOnWhereTheOneBeforeStopped) {
  Finding last = passed("all_reduce");
  Progress progress({});
  progress.begin_round(4, 3, last.unit.cases);
  EXPECT_TRUE(begins(progress.line(), "3/4 units, "));
  progress.show(last);
  const std::string line = progress.line();
  EXPECT_TRUE(line.starts_with("4/4 units, ") && line.ends_with(", 0 s left")) << line;
}

TEST(ProgressTest, SaysHowManyFailuresAreShrunk) {
  Progress progress({});
  progress.begin_round(4, 3, 100);
  progress.failures_shrinking() = 1;
  EXPECT_TRUE(ends(progress.line(), ", ...; shrinking 1 failure"));
  progress.failures_shrinking() = 2;
  EXPECT_TRUE(ends(progress.line(), "; shrinking 2 failures"));
}

/// What a progress display prints of these findings.
std::string shown(Progress& progress, const std::vector<Finding>& findings) {
  testing::internal::CaptureStdout();
  for (const Finding& each : findings) progress.show(each);
  return testing::internal::GetCapturedStdout();
}

TEST(ProgressTest, FailureHasItsNameAndItsReason) {
  Finding failure = sample_failure();
  failure.reason = "differs from\nthe reference";
  Progress progress({});
  EXPECT_EQ(shown(progress, {failure}),
            "falsified all_reduce/ring/sim/agrees_with_reference  differs from the reference\n");
}

TEST(ProgressTest, ALongReasonStandsBelowTheName) {
  Finding failure = sample_failure();
  failure.unit.algorithm = std::string(60, 'a');
  failure.reason =
      "the worker ended with status 4 before every rank had said hello, see what it printed";
  Progress progress({});
  EXPECT_EQ(
      shown(progress, {failure}),
      "falsified all_reduce/" + failure.unit.algorithm +
          "/sim/agrees_with_reference\n"
          "          the worker ended with status 4 before every rank had said hello, see what it "
          "printed\n");
}

TEST(ProgressTest, UnitsThatErroredAlikeAreOneLine) {
  Progress progress({});
  std::vector<Finding> errored(3, sample_finding("all_reduce", Verdict::errored));
  errored[1].unit.operation = errored[2].unit.operation = "broadcast";
  errored[0].reason = errored[1].reason = "no module";
  errored[2].reason = "no memory";
  const std::string text = shown(progress, errored);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  EXPECT_TRUE(has(text, "no memory"));
}

TEST(ProgressTest, IsSilentOnRequest) {
  Progress progress({.is_quiet = true});
  testing::internal::CaptureStdout();
  progress.show(sample_failure());
  progress.end_round(0, {});
  progress.tick();
  progress.clear();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(TimeTextTest, HasOneUnit) {
  EXPECT_EQ(time_text(0.4), "0 s");
  EXPECT_EQ(time_text(89), "89 s");
  EXPECT_EQ(time_text(600), "10 min");
  EXPECT_EQ(time_text(9000), "2.5 h");
}

}  // namespace
}  // namespace rankcheck::harness::run
