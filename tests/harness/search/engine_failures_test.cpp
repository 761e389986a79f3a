#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/harness/base/moved_clock.hpp"
#include "tests/harness/search/engine_fixture.hpp"

/// What the engine does with a failure: shrinking, replays, and a stop or an end of time between
/// them.
namespace rankcheck::harness {
namespace {

/// A worker that refuses a type would also fail on this type. Shrinking must not run such cases.
TEST_F(EngineTest, ShrinkingNeverTakesACaseThatIsRefused) {
  backend.refusal = [](const Case& c) { return c.type != spec::Type::bf16 ? "bf16 alone" : ""; };
  plant(RunStatus::failed, [](const Case&) { return true; });
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::falsified);
  EXPECT_EQ(finding.minimal->type, spec::Type::bf16);
  EXPECT_GT(finding.shrinks, 0);
}

TEST_F(EngineTest, ShrinksADroppedRemainder) {
  plant(RunStatus::failed);
  for (limits.seed = 1; limits.seed <= 20; ++limits.seed) {
    const Finding finding = run();
    EXPECT_EQ(outcome_of(finding), "falsified: planted");
    ASSERT_TRUE(finding.minimal);
    EXPECT_EQ(to_text(*finding.minimal),
              R"({"operation":"all_reduce","algorithm":"direct","backend":"fake",)"
              R"("property":"completes","ranks":3,"count":1,"type":"f32","op":"sum",)"
              R"("input":"coded"})");
    EXPECT_EQ(finding.replays, 5);
    EXPECT_EQ(finding.replays_failed, 5);
    EXPECT_EQ(std::exchange(backend.restarts, 0), 5) << "each replay has a restarted backend";
  }
}

/// The steps lead from the case that failed first to the minimal one.
TEST_F(EngineTest, ListsTheStepsOfShrinking) {
  plant(RunStatus::failed, [](const Case& c) { return c.count > 2; });
  const Finding finding = run();
  ASSERT_TRUE(finding.original);
  EXPECT_GT(finding.original->count, finding.minimal->count);
  ASSERT_EQ(std::ssize(finding.steps), finding.shrinks);
  const auto text = [](std::int64_t count) { return "count " + std::to_string(count); };
  const auto step_of_count = [](const std::string& step) { return step.starts_with("count "); };
  const auto first = std::find_if(finding.steps.begin(), finding.steps.end(), step_of_count);
  ASSERT_NE(first, finding.steps.end());
  EXPECT_EQ(first->find(text(finding.original->count) + " -> "), 0U) << *first;
  const auto last = std::find_if(finding.steps.rbegin(), finding.steps.rend(), step_of_count);
  EXPECT_NE(last->find(" -> 3"), std::string::npos) << *last;
}

TEST_F(EngineTest, ListsABoundedNumberOfSteps) {
  // Each simpler count fails only if it is one less, so that there are many steps.
  std::int64_t least = 0;
  unit.count = 100;
  backend.outcome = [&](const Case& c) {
    if (least == 0) least = c.count + 1;
    if (c.count < least - 1) return RunStatus::completed;
    least = c.count;
    return RunStatus::failed;
  };
  const Finding finding = run();
  EXPECT_GT(finding.shrinks, 40);
  EXPECT_EQ(finding.steps.size(), 40U);
}

TEST_F(EngineTest, ShrinksAHangAndACrash) {
  for (const auto& [status, verdict] : {std::pair{RunStatus::hung, Verdict::hung},
                                        std::pair{RunStatus::crashed, Verdict::crashed}}) {
    plant(status);
    const Finding finding = run();
    EXPECT_EQ(finding.verdict, verdict);
    EXPECT_EQ(finding.minimal->ranks, 3);
    EXPECT_EQ(finding.minimal->count, 1);
  }
}

/// Each simpler case that hangs, too, would cost the whole time-out.
TEST_F(EngineTest, HurriesOnlyWhileItShrinksAHang) {
  int hurried = 0;
  backend.outcome = [&](const Case& c) {
    if (!has_remainder(c)) return RunStatus::completed;
    hurried += backend.is_hurried ? 1 : 0;
    EXPECT_FALSE(backend.is_hurried && backend.restarts > 0) << "a replay is not hurried";
    return RunStatus::hung;
  };
  EXPECT_EQ(run().verdict, Verdict::hung);
  EXPECT_GT(hurried, 0);
  EXPECT_FALSE(backend.is_hurried);
  hurried = 0;
  plant(RunStatus::crashed);
  EXPECT_EQ(run().verdict, Verdict::crashed);
  EXPECT_EQ(hurried, 0);
}

TEST_F(EngineTest, ShrinkingDoesNotSlipIntoAnotherDefect) {
  backend.outcome = [](const Case& c) {
    if (c.ranks >= 3) return RunStatus::hung;
    return c.ranks == 2 && c.count > 40 ? RunStatus::failed : RunStatus::completed;
  };
  unit.ranks_min = 3;
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::hung);
  EXPECT_EQ(finding.minimal->ranks, 3);
}

TEST_F(EngineTest, ShrinkingDoesNotSlipIntoAnotherSymptomOfTheSameVerdict) {
  // With three or more ranks, the failure is a race. Smaller cases fail with a wrong value.
  plant(RunStatus::failed, [](const Case& c) { return c.count > 0; });
  backend.symptom = [](const Case& c) { return c.ranks >= 3 ? Symptom::race : Symptom::value; };
  unit.ranks_min = 3;
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::falsified);
  EXPECT_EQ(finding.minimal->ranks, 3);
}

TEST_F(EngineTest, CallsAFailureThatComesAndGoesFlaky) {
  plant(RunStatus::failed, [runs = 0](const Case&) mutable { return ++runs % 3 == 0; });
  const Finding finding = run();
  EXPECT_GT(finding.replays_failed, 0);
  EXPECT_LT(finding.replays_failed, 5);
  EXPECT_EQ(finding.replays, 5);
  EXPECT_EQ(outcome_of(finding),
            fmt::format("flaky: falsified in {} of 5 replays: planted", finding.replays_failed));
}

TEST_F(EngineTest, ShowsTheFirstFailureWhereNothingReplays) {
  // The failure comes from state that leaks from case to case. A restart clears it.
  plant(RunStatus::failed, [&](const Case& c) { return backend.restarts == 0 && c.count > 5; });
  const Finding finding = run();
  EXPECT_EQ(finding.replays_failed, 0);
  EXPECT_GT(finding.minimal->count, 6) << "no simpler case has failed in a replay";
  EXPECT_EQ(finding.shrinks, 0);
  EXPECT_FALSE(finding.original);
  EXPECT_EQ(outcome_of(finding),
            "flaky: falsified in 0 of 5 replays: planted, perhaps because it needs what earlier "
            "calls left behind");
}

TEST_F(EngineTest, AChanceFailureIsNoSmallestCase) {
  // Any case fails in its first run, and the case that failed first in one of its replays.
  plant(RunStatus::failed, [this, replays = 0](const Case&) mutable {
    return backend.restarts == 0 || ++replays == 8;
  });
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::flaky);
  EXPECT_EQ(finding.replays_failed, 1);
  EXPECT_EQ(finding.shrinks, 0);
}

TEST_F(EngineTest, ReplaysWithAnotherSymptomDoNotHideTheFirstOne) {
  plant(RunStatus::failed, [](const Case& c) { return c.count > 5; });
  backend.symptom = [this](const Case&) {
    return backend.restarts == 0 ? Symptom::outside : Symptom::value;
  };
  const Finding finding = run();
  EXPECT_EQ(outcome_of(finding), "falsified: planted; a replay failed otherwise: planted");
  EXPECT_EQ(finding.replays_failed, 5);
  EXPECT_EQ(finding.symptom, Symptom::outside);
}

/// A rank that had died before is no failure of the case. Its replays are.
TEST_F(EngineTest, ReplaysTellMoreThanACrashFromBefore) {
  plant(RunStatus::crashed, [](const Case& c) { return c.count > 5; });
  backend.symptom = [this](const Case&) {
    return backend.restarts == 0 ? Symptom::from_before : Symptom::none;
  };
  EXPECT_EQ(run().symptom, Symptom::none);
}

TEST_F(EngineTest, ReportsTheFirstFailureWhereOnlyThatReplays) {
  // A real defect leaves the backend in a bad state until it is restarted.
  plant(RunStatus::failed, [this, spoiled = false](const Case& c) mutable {
    if (c.count > 20) spoiled = true;
    return c.count > 20 || (spoiled && backend.restarts == 0 && c.count > 5);
  });
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::falsified);
  EXPECT_GT(finding.minimal->count, 20);
  EXPECT_EQ(finding.replays_failed, 5);
  EXPECT_EQ(std::ssize(finding.steps), finding.shrinks) << "steps behind another case are left out";
}

TEST_F(EngineTest, ShrinksAfreshWhereSimplerCasesFailedOnlyBehindOthers) {
  // More than 7 elements leave the backend in a bad state until it is restarted.
  plant(RunStatus::failed, [this, spoiled = false, restarts = 0](const Case& c) mutable {
    spoiled = (spoiled && backend.restarts == restarts) || c.count > 7;
    restarts = backend.restarts;
    return spoiled;
  });
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::falsified);
  EXPECT_EQ(finding.minimal->count, 8);
  EXPECT_GT(finding.shrinks, 0);
  EXPECT_EQ(std::ssize(finding.steps), finding.shrinks) << "steps behind others are left out";
  EXPECT_EQ(finding.replays_failed, 5);
}

TEST_F(EngineTest, AnEnvironmentThatFailsDuringTheReplaysDoesNotUndoTheFailure) {
  for (const int good : {0, 2}) {
    backend.restarts = 0;
    backend.outcome = [this, good](const Case&) {
      return backend.restarts > good ? RunStatus::errored : RunStatus::failed;
    };
    const Finding finding = run();
    EXPECT_EQ(outcome_of(finding), "falsified: planted; a replay could not be run: planted");
    EXPECT_EQ(finding.replays, good);
    EXPECT_EQ(finding.replays_failed, good);
  }
}

TEST_F(EngineTest, AShrinkBoxThatIsOverKeepsTheFirstFailure) {
  plant(RunStatus::failed);
  limits.shrink_s = 0;
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::falsified);
  EXPECT_EQ(finding.shrinks, 0);
  EXPECT_FALSE(finding.original) << "nothing is simpler than the original";
  EXPECT_TRUE(finding.steps.empty());
  EXPECT_GT(finding.minimal->data_seed, 1U);
  EXPECT_EQ(backend.runs, finding.cases + finding.replays);
}

TEST_F(EngineTest, AReplayBoxThatIsOverMakesOneReplay) {
  plant(RunStatus::failed);
  limits.replay_s = 0;
  EXPECT_EQ(run().replays, 1);
}

TEST_F(EngineTest, AFailureThatOutlastsTheDeadlineIsReplayedOnce) {
  const MovedClock clock;
  limits.deadline = RunClock::now() + std::chrono::hours(1);
  backend.outcome = [&](const Case&) {
    MovedClock::move_to(limits.deadline);
    return RunStatus::hung;
  };
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::hung);
  EXPECT_EQ(finding.shrinks, 0);
  EXPECT_EQ(finding.replays, 1);
  EXPECT_EQ(backend.runs, 2);
}

/// A subject that always fails. The stop comes in run number `last`.
struct StoppedFailureTest : EngineTest {
  std::atomic<bool> stop = false;

  Finding run_up_to(int last) {
    limits.stop = {.flag = &stop};
    backend.outcome = [this, last](const Case&) {
      if (backend.runs >= last) stop = true;
      if (stop) throw Interrupted();
      return RunStatus::failed;
    };
    return run();
  }
};

TEST_F(StoppedFailureTest, IsNotReportedBeforeItIsReplayed) {
  EXPECT_THROW(run_up_to(3), Interrupted) << "while it is shrunk";
}

TEST_F(StoppedFailureTest, IsReportedWithTheReplaysThatWereMade) {
  backend.outcome = [](const Case&) { return RunStatus::failed; };
  ASSERT_EQ(run().replays, 5);
  const int all = std::exchange(backend.runs, 0);
  const Finding finding = run_up_to(all - 1);
  EXPECT_EQ(finding.verdict, Verdict::falsified) << finding.reason;
  EXPECT_EQ(finding.replays, 3);
  EXPECT_EQ(finding.replays_failed, 3);
}

TEST_F(EngineTest, NoReplayIsBegunOnceAStopIsMade) {
  std::atomic<bool> stop = false;
  backend.outcome = [&](const Case&) {
    stop = true;
    return RunStatus::failed;
  };
  limits.stop = {.flag = &stop};
  EXPECT_EQ(run().replays, 1);
}

}  // namespace
}  // namespace rankcheck::harness
