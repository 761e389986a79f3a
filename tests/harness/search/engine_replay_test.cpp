#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include "cases/families/collectives/case.hpp"
#include "tests/harness/search/engine_fixture.hpp"

/// Pinned cases and replays of a single case.
namespace rankcheck::harness {
namespace {

using cases::collective;

struct OneCaseTest : EngineTest {
  Case c = case_from_text(R"({"operation":"all_reduce","property":"completes","backend":"fake",)"
                          R"("ranks":3,"count":4,"type":"f32","op":"sum"})");
};

struct PinnedTest : OneCaseTest {
  Finding run() { return run_pinned(catalogue, backend, unit, c, limits); }
};

TEST_F(PinnedTest, IsRunOnceWhereItHolds) {
  std::atomic<std::int64_t> done = 0;
  limits.cases_done = &done;
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::passed);
  EXPECT_EQ(finding.cases, 1);
  EXPECT_EQ(finding.compared_bytes, 12);
  EXPECT_EQ(backend.runs, 1);
  EXPECT_EQ(done, 1);
  EXPECT_FALSE(finding.minimal);
}

TEST_F(PinnedTest, FailureIsConfirmedOnARestartedBackend) {
  plant(RunStatus::crashed);
  const Finding finding = run();
  EXPECT_EQ(outcome_of(finding), "crashed: planted");
  EXPECT_EQ(finding.minimal, c);
  EXPECT_EQ(finding.replays, 5);
  EXPECT_EQ(finding.replays_failed, 5);
  EXPECT_EQ(backend.restarts, 5);
}

TEST_F(PinnedTest, FailureThatDoesNotReplayIsFlaky) {
  plant(RunStatus::failed, [this](const Case&) { return backend.restarts == 0; });
  EXPECT_EQ(outcome_of(run()), "flaky: falsified in 0 of 5 replays: planted");
}

TEST_F(PinnedTest, WhatTheBackendRefusesIsSkipped) {
  backend.refusal = [](const Case&) { return "no"; };
  EXPECT_EQ(outcome_of(run()), "skipped: not_supported");
}

TEST_F(PinnedTest, ComparingNothingIsVacuousAndShowsTheCase) {
  c.property = "looks_away";
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_EQ(finding.minimal, c);
  EXPECT_EQ(finding.replays, 0);
}

TEST_F(PinnedTest, WhatABackendThrowsIsTheEnvironmentsFailure) {
  backend.outcome = [](const Case&) -> RunStatus { throw std::runtime_error("disk full"); };
  const Finding finding = run();
  EXPECT_EQ(outcome_of(finding), "errored: disk full");
  EXPECT_EQ(finding.cases, 0);
}

struct ReplayTest : OneCaseTest {
  Examiner examiner{catalogue, backend};

  ReplayResult run_replay(const RunLimits& how = {}, Verdict kind = Verdict::passed) {
    return replay(examiner, c, how, kind);
  }
};

TEST_F(ReplayTest, PassesWhereNothingFails) {
  const ReplayResult result = run_replay();
  EXPECT_EQ(result.verdict, Verdict::passed);
  EXPECT_EQ(result.replays, 5);
  EXPECT_EQ(result.failed, 0);
  EXPECT_EQ(result.judgement.compared_bytes, 12);
}

TEST_F(ReplayTest, FailsWhereAllFailAlike) {
  plant(RunStatus::crashed);
  const ReplayResult result = run_replay({.replays = 2});
  EXPECT_EQ(result.verdict, Verdict::crashed);
  EXPECT_EQ(result.replays, 2);
  EXPECT_EQ(result.failed, 2);
}

TEST_F(ReplayTest, IsFlakyWhereFailuresDifferAndCountsTheKindThatIsAskedFor) {
  backend.outcome = [this](const Case&) {
    return backend.runs == 1 ? RunStatus::crashed : RunStatus::failed;
  };
  const ReplayResult any = run_replay({.replays = 3});
  EXPECT_EQ(any.verdict, Verdict::flaky);
  EXPECT_EQ(any.failed, 1);
  EXPECT_EQ(any.judgement.verdict, Verdict::crashed);
  backend.runs = 0;
  const ReplayResult falsified = run_replay({.replays = 3}, Verdict::falsified);
  EXPECT_EQ(falsified.failed, 2);
  EXPECT_EQ(falsified.judgement.verdict, Verdict::falsified);
}

TEST_F(ReplayTest, ComparingNothingIsVacuous) {
  c.property = "looks_away";
  const ReplayResult result = run_replay();
  EXPECT_EQ(result.verdict, Verdict::vacuous);
  EXPECT_EQ(result.judgement.reason, "nothing was compared of the output of rank 0");
}

TEST_F(ReplayTest, AnIllegalCaseIsErrored) {
  collective(c).root = 2;
  EXPECT_EQ(run_replay().verdict, Verdict::errored);
}

}  // namespace
}  // namespace rankcheck::harness
