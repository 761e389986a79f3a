#include "harness/run/progress.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "tests/harness/sample.hpp"

namespace rankcheck::harness::run {
namespace {

using Clock = std::chrono::steady_clock;

TEST(ProgressTest, OfARunThatRepeatsItselfEndsWithItsTime) {
  Progress progress({.rounds_end = Clock::now() + std::chrono::hours(2)});
  progress.begin_round(4, 0, 1);
  progress.show(sample_finding("all_reduce", Verdict::passed));
  const std::string line = progress.line();
  EXPECT_TRUE(line.starts_with("1/4 units, 0 cases, ")) << line;
  EXPECT_TRUE(line.ends_with(", 2.0 h left")) << line;
}

TEST(ProgressTest, TellsNoTimeBeforeTheFirstFinding) {
  Progress progress({});
  progress.begin_round(4, 3, 100);
  EXPECT_TRUE(progress.line().ends_with(", ...")) << progress.line();
}

TEST(ProgressTest, OfOneRoundEndsWithItsCases) {
  Finding whole = sample_finding("all_reduce", Verdict::passed);
  Progress progress({});
  progress.begin_round(1, 0, whole.unit.cases);
  progress.show(whole);
  EXPECT_TRUE(progress.line().ends_with(", 0 s left")) << progress.line();
}

TEST(ProgressTest, OfAResumedRunGoesOnWhereTheOneBeforeStopped) {
  Finding last = sample_finding("all_reduce", Verdict::passed);
  Progress progress({});
  progress.begin_round(4, 3, last.unit.cases);
  EXPECT_TRUE(progress.line().starts_with("3/4 units, ")) << progress.line();
  progress.show(last);
  const std::string line = progress.line();
  EXPECT_TRUE(line.starts_with("4/4 units, ") && line.ends_with(", 0 s left")) << line;
}

TEST(ProgressTest, SaysHowManyFailuresAreShrunk) {
  Progress progress({});
  progress.begin_round(4, 3, 100);
  progress.failures_shrinking() = 1;
  EXPECT_TRUE(progress.line().ends_with(", ...; shrinking 1 failure")) << progress.line();
  progress.failures_shrinking() = 2;
  EXPECT_TRUE(progress.line().ends_with("; shrinking 2 failures")) << progress.line();
}

TEST(ProgressTest, FailureHasItsNameAndItsReason) {
  Finding failure = sample_failure();
  failure.reason = "differs from\nthe reference";
  Progress progress({});
  testing::internal::CaptureStdout();
  progress.show(failure);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(text,
            "falsified all_reduce/ring/sim/agrees_with_reference  differs from the reference\n");
}

TEST(ProgressTest, ALongReasonStandsBelowTheName) {
  Finding failure = sample_failure();
  failure.unit.algorithm = std::string(60, 'a');
  failure.reason =
      "the worker ended with status 4 before every rank had said hello, see what it printed";
  Progress progress({});
  testing::internal::CaptureStdout();
  progress.show(failure);
  EXPECT_EQ(
      testing::internal::GetCapturedStdout(),
      "falsified all_reduce/" + failure.unit.algorithm +
          "/sim/agrees_with_reference\n"
          "          the worker ended with status 4 before every rank had said hello, see what it "
          "printed\n");
}

TEST(ProgressTest, UnitsThatErroredAlikeAreOneLine) {
  Progress progress({});
  Finding errored = sample_finding("all_reduce", Verdict::errored);
  errored.reason = "no module";
  testing::internal::CaptureStdout();
  progress.show(errored);
  errored.unit.operation = "broadcast";
  progress.show(errored);
  errored.reason = "no memory";
  progress.show(errored);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  EXPECT_NE(text.find("no memory"), std::string::npos) << text;
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
