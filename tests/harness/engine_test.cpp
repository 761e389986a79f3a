#include "harness/engine.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/summary.hpp"

#include "cases/families/collectives/case.hpp"
#include "tests/harness/fake.hpp"

namespace rankcheck::harness {
namespace {

using cases::collective;

using fake::FakeBackend;

/// A planted bug: the remainder is dropped if three or more ranks do not divide the count.
bool has_remainder(const Case& c) {
  return group_size(c) >= 3 && c.count % group_size(c) != 0;
}

/// 62 pairs of type and op. 10 classes of call sites, without other roots, gaps and empty parts.
/// 1 to 8 ranks. Special values of 4 types and wide values of 8 types.
constexpr std::size_t all_cells = 62 + 10 + 8 + 4 + 8;

struct EngineTest : testing::Test {
  Catalogue catalogue = fake::catalogue();
  FakeBackend backend{catalogue};
  Unit unit = fake::unit("all_reduce");
  RunLimits limits;

  void plant(RunStatus status, bool (*where)(const Case&) = has_remainder) {
    backend.outcome = [=](const Case& c) { return where(c) ? status : RunStatus::completed; };
  }
  Finding run() { return run_unit(catalogue, backend, unit, limits); }
};

TEST_F(EngineTest, PassesAndCountsWhatHolds) {
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::passed) << finding.reason;
  EXPECT_EQ(finding.cases, 200);
  EXPECT_EQ(backend.runs, 200);
  EXPECT_GT(finding.compared_bytes, 200);
  EXPECT_EQ(finding.cells.size(), all_cells);
  EXPECT_TRUE(finding.missing_cells.empty());
  EXPECT_FALSE(finding.minimal);
}

/// `round` is the number of cases that RapidCheck makes at a time. After all cells are covered,
/// only its random numbers determine a case.
TEST_F(EngineTest, CasesBehindTheFirstTenThousandAreOthers) {
  constexpr std::size_t round = 10'000;
  constexpr std::size_t covered = 1000;
  constexpr std::size_t compared = 100;
  unit = fake::unit("barrier", static_cast<int>(round + covered + compared));
  std::vector<std::uint64_t> seeds;
  backend.outcome = [&](const Case& c) {
    seeds.push_back(c.data_seed);
    return RunStatus::completed;
  };
  run();
  ASSERT_EQ(seeds.size(), round + covered + compared);
  std::size_t same = 0;
  for (std::size_t i = covered; i < covered + compared; ++i) {
    same += seeds[i] == seeds[round + i] ? 1 : 0;
  }
  EXPECT_LT(same, compared / 10);
}

TEST_F(EngineTest, AsManyCasesAsTypesAndOpsAndAnEmptyOneCoverAllCells) {
  unit.cases = 63;
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::passed) << finding.reason;
}

TEST_F(EngineTest, FewerCasesThanCellsAreVacuous) {
  unit.cases = 61;
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_EQ(finding.missing_cells.size(), 2U);
  EXPECT_EQ(finding.reason,
            "2 of 92 cells were not covered in 61 cases, first " + finding.missing_cells.front());
}

TEST_F(EngineTest, ASiteClassThatIsNeverRunIsVacuous) {
  // The case runs, but the property does not compare it.
  Property property = fake::completes();
  property.name = "looks_away_in_place";
  property.check = [](const Evidence& evidence, Judgement& judgement) {
    if (!evidence.stages[0].in_place) fake::completes().check(evidence, judgement);
  };
  const Catalogue other = fake::catalogue({property});
  unit.property = "looks_away_in_place";
  unit.cases = 1000;
  const Finding finding = run_unit(other, backend, unit, limits);
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_EQ(finding.missing_cells, std::vector<std::string>{"site/in_place"});
}

TEST_F(EngineTest, CasesWithoutPowerAreCountedAndCoverNothing) {
  Property property = fake::completes();
  property.name = "is_blind_in_place";
  property.check = [](const Evidence& evidence, Judgement& judgement) {
    fake::completes().check(evidence, judgement);
    judgement.see(1, evidence.stages[0].in_place ? 1 : 0, "the output");
  };
  const Catalogue other = fake::catalogue({property});
  unit.property = "is_blind_in_place";
  const Finding finding = run_unit(other, backend, unit, limits);
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_FALSE(finding.cells.contains("site/in_place"));
  EXPECT_GT(finding.powerless_cases, 0);
  EXPECT_EQ(finding.power.elements, finding.cases);
  EXPECT_EQ(finding.power.useful, finding.cases - finding.powerless_cases);
  EXPECT_EQ(finding.power.smallest_change, 1);
}

TEST_F(EngineTest, ATypeOfWhichNothingIsEverComparedIsVacuous) {
  Property property = fake::completes();
  property.name = "has_nothing_of_int8";
  property.adapt = [](const spec::Contract&, Case& c) {
    if (c.type == spec::Type::int8) c.count = 0;
  };
  const Catalogue other = fake::catalogue({property});
  unit.property = "has_nothing_of_int8";
  unit.cases = 1000;
  const Finding finding = run_unit(other, backend, unit, limits);
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_GT(finding.missing_cells.size(), 1U);
  for (const std::string& cell : finding.missing_cells)
    EXPECT_TRUE(cell.starts_with("int8/")) << cell;
}

TEST_F(EngineTest, CellsThatTheBackendRefusesAreNamedAndNotRequired) {
  backend.refusal = [](const Case& c) {
    return c.in_place || c.type == spec::Type::f32 ? "no" : "";
  };
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::passed) << finding.reason;
  EXPECT_FALSE(finding.cells.contains("site/in_place"));
  const auto& refused = finding.refused_cells;
  EXPECT_EQ(std::count(refused.begin(), refused.end(), "site/in_place"), 1);
  EXPECT_EQ(std::count(refused.begin(), refused.end(), "f32/sum"), 1);
  EXPECT_EQ(finding.cells.size() + refused.size(), all_cells);
  Tally tally;
  tally.add(finding);
  EXPECT_EQ(tally.required_cells, static_cast<std::int64_t>(all_cells));
  EXPECT_EQ(tally.refused_cells, static_cast<std::int64_t>(refused.size()));
}

TEST_F(EngineTest, ARequiredCellThatTheBackendRefusesIsVacuous) {
  backend.refusal = [](const Case& c) { return c.type == spec::Type::f32 ? "no" : ""; };
  unit.require = {"all_reduce/f*/sum"};
  Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_EQ(finding.missing_cells, std::vector<std::string>{"f32/sum"});
  EXPECT_EQ(
      finding.reason,
      "1 of 87 cells were not covered in 200 cases, first f32/sum, which the backend refuses");
  unit.require = {"broadcast/*", "all_reduce/f64/*"};
  EXPECT_EQ(run().verdict, Verdict::passed);
}

TEST_F(EngineTest, ARequiredCellIsVacuousWhereTheBackendRefusesEveryCase) {
  backend.refusal = [](const Case&) { return "no"; };
  EXPECT_EQ(run().verdict, Verdict::skipped);
  unit.require = {"all_reduce/f32/sum"};
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_EQ(finding.reason, "the backend refuses all cases, and f32/sum is required");
  EXPECT_EQ(finding.missing_cells, std::vector<std::string>{"f32/sum"});
}

TEST_F(EngineTest, RequiredCellsAreRequiredWhereOthersAreNot) {
  unit.cases = 3;
  unit.require_all_cells = false;
  EXPECT_EQ(run().verdict, Verdict::passed);
  unit.require = {"all_reduce/*"};
  EXPECT_EQ(run().verdict, Verdict::vacuous);
}

TEST_F(EngineTest, RanksThatNobodyHostsAreVacuous) {
  unit.ranks_required = 2;
  EXPECT_EQ(run().verdict, Verdict::passed);
  EXPECT_EQ(run().ranks_max, 8);
  backend.refusal = [](const Case& c) { return c.ranks > 1 ? "one rank alone" : ""; };
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_EQ(finding.reason, "expected a case of 2 ranks, and none had more than 1");
  EXPECT_TRUE(lacks_coverage(finding));
  unit.ranks_required = 1;
  EXPECT_EQ(run().verdict, Verdict::passed);
}

TEST_F(EngineTest, EvenASingleCaseHasTheRanksThatAreRequired) {
  unit.cases = 1;
  unit.require_all_cells = false;
  unit.ranks_required = 2;
  for (limits.seed = 1; limits.seed <= 50; ++limits.seed) {
    const Finding finding = run();
    EXPECT_EQ(finding.verdict, Verdict::passed) << limits.seed << ": " << finding.reason;
  }
}

TEST_F(EngineTest, CasesThatAreRefusedWhenTheyRunAreNoCases) {
  int judged_of = 12;
  backend.outcome = [&judged_of, runs = 0](const Case&) mutable {
    return ++runs % judged_of == 0 ? RunStatus::completed : RunStatus::refused;
  };
  unit.cases = 12;
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_EQ(finding.cases, 1);
  EXPECT_EQ(finding.refused_cases, 11);
  EXPECT_NE(finding.reason.find("; the backend refused 11 cases"), std::string::npos)
      << finding.reason;
  // A run may be refused at any time, but most of them say something.
  unit.require_all_cells = false;
  EXPECT_EQ(run().reason,
            "expected most of 12 cases to be judged, got 1; the backend refused 11 cases");
  judged_of = 2;
  EXPECT_EQ(run().verdict, Verdict::passed);
}

/// A worker that refuses a type would also fail on this type. Shrinking must not run such cases.
TEST_F(EngineTest, ShrinkingNeverTakesACaseThatIsRefused) {
  backend.refusal = [](const Case& c) { return c.type != spec::Type::bf16 ? "bf16 alone" : ""; };
  plant(RunStatus::failed, [](const Case&) { return true; });
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::falsified);
  EXPECT_EQ(finding.minimal->type, spec::Type::bf16);
  EXPECT_GT(finding.shrinks, 0);
}

TEST_F(EngineTest, ShortRoundsCoverTogetherWhatALongOneDoes) {
  unit.cases = 8;
  Finding total = run();
  EXPECT_EQ(total.verdict, Verdict::vacuous);
  for (int round = 1; round < 8; ++round) {
    limits.seed = mix(1, static_cast<std::uint64_t>(round));
    limits.covered = total.cells;
    merge(total, run());
  }
  EXPECT_EQ(total.verdict, Verdict::passed) << total.reason;
  EXPECT_EQ(total.cases, 64);
}

TEST_F(EngineTest, FewerCasesThanCellsAreEnoughWhereCellsAreNotRequired) {
  unit.cases = 5;
  unit.require_all_cells = false;
  EXPECT_EQ(run().verdict, Verdict::passed);
}

TEST_F(EngineTest, ComparingNothingIsVacuous) {
  unit.property = "looks_away";
  unit.require_all_cells = false;
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_EQ(finding.reason, "nothing was compared in 200 cases");
}

TEST_F(EngineTest, AnOperationThatSynchronisesIsComparedByItsStamps) {
  unit = fake::unit("barrier");
  unit.property = "looks_away";
  EXPECT_EQ(run().verdict, Verdict::passed);
}

TEST_F(EngineTest, SkipsWhatTheBackendRefusesAltogether) {
  backend.refusal = [](const Case&) { return "no such algorithm"; };
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::skipped);
  EXPECT_EQ(finding.reason, name(SkipReason::not_supported));
  EXPECT_EQ(backend.runs, 0);
}

TEST_F(EngineTest, APropertyThatAppliesToNoCaseIsVacuous) {
  Property property = fake::completes();
  property.name = "never_applies";
  property.applies = [](const spec::Contract&, const Case&) { return false; };
  const Catalogue other = fake::catalogue({property});
  unit.property = "never_applies";
  EXPECT_EQ(run_unit(other, backend, unit, limits).verdict, Verdict::vacuous);
}

TEST_F(EngineTest, AnUnknownOperationIsErrored) {
  unit.operation = "unheard_of";
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::errored);
  EXPECT_EQ(finding.reason, "operation: unknown name \"unheard_of\"");
}

TEST_F(EngineTest, ShrinksADroppedRemainder) {
  plant(RunStatus::failed);
  for (limits.seed = 1; limits.seed <= 20; ++limits.seed) {
    const Finding finding = run();
    EXPECT_EQ(finding.verdict, Verdict::falsified);
    EXPECT_EQ(finding.reason, "planted");
    ASSERT_TRUE(finding.minimal);
    EXPECT_EQ(to_text(*finding.minimal),
              R"({"operation":"all_reduce","algorithm":"direct","backend":"fake",)"
              R"("property":"completes","ranks":3,"count":1,"type":"f32","op":"sum",)"
              R"("input":"coded"})");
    EXPECT_EQ(finding.replays, 5);
    EXPECT_EQ(finding.replays_failed, 5);
  }
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

TEST_F(EngineTest, ConfirmsOnARestartedBackend) {
  plant(RunStatus::failed);
  (void)run();
  EXPECT_EQ(backend.restarts, 5);
}

TEST_F(EngineTest, CallsAFailureThatComesAndGoesFlaky) {
  backend.outcome = [runs = 0](const Case&) mutable {
    return ++runs % 3 == 0 ? RunStatus::failed : RunStatus::completed;
  };
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::flaky);
  EXPECT_GT(finding.replays_failed, 0);
  EXPECT_LT(finding.replays_failed, 5);
  EXPECT_EQ(finding.replays, 5);
  EXPECT_EQ(finding.reason,
            "falsified in " + std::to_string(finding.replays_failed) + " of 5 replays: planted");
}

TEST_F(EngineTest, NamesTheFirstFailureWhereNothingReplays) {
  // The failure comes from state that leaks from case to case. A restart clears it.
  backend.outcome = [this](const Case& c) {
    return backend.restarts == 0 && c.count > 5 ? RunStatus::failed : RunStatus::completed;
  };
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::flaky);
  EXPECT_EQ(finding.replays_failed, 0);
  EXPECT_EQ(finding.minimal->count, 6);
  EXPECT_EQ(finding.reason.find("falsified in 0 of 5 replays: planted; failed first with {"), 0U);
}

TEST_F(EngineTest, ReportsTheFirstFailureWhereOnlyThatReplays) {
  // A real defect leaves the backend in a bad state until it is restarted.
  backend.outcome = [this, spoiled = false](const Case& c) mutable {
    if (c.count > 20) spoiled = true;
    const bool leaks = spoiled && backend.restarts == 0 && c.count > 5;
    return c.count > 20 || leaks ? RunStatus::failed : RunStatus::completed;
  };
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::falsified);
  EXPECT_GT(finding.minimal->count, 20);
  EXPECT_EQ(finding.replays_failed, 5);
}

TEST_F(EngineTest, StopsWhereTheEnvironmentFails) {
  backend.outcome = [this](const Case&) {
    return backend.runs == 10 ? RunStatus::errored : RunStatus::completed;
  };
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::errored);
  EXPECT_EQ(finding.reason, "planted");
  EXPECT_EQ(finding.cases, 9);
  EXPECT_EQ(backend.runs, 10);
  EXPECT_TRUE(finding.minimal);
}

TEST_F(EngineTest, WhatABackendThrowsIsTheEnvironmentsFailure) {
  backend.outcome = [](const Case&) -> RunStatus { throw std::runtime_error("disk full"); };
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::errored);
  EXPECT_EQ(finding.reason, "disk full");
}

TEST_F(EngineTest, AnEnvironmentThatFailsDuringTheReplaysIsErrored) {
  backend.outcome = [this](const Case&) {
    return backend.restarts > 0 ? RunStatus::errored : RunStatus::failed;
  };
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::errored);
  EXPECT_EQ(finding.reason, "falsified: planted; when it was replayed: planted");
}

TEST_F(EngineTest, TwoRunsOfOneSeedAreEqual) {
  plant(RunStatus::failed, [](const Case& c) { return c.count > 30 && c.in_place; });
  const auto text = [this] { return to_json(run()).dump(); };
  EXPECT_EQ(text(), text());
}

TEST_F(EngineTest, AUnitsSeedDependsOnTheRunAndTheName) {
  Unit other = unit;
  other.cases = 7;
  EXPECT_EQ(unit_seed(1, unit), unit_seed(1, other));
  EXPECT_NE(unit_seed(1, unit), unit_seed(2, unit));
  other.algorithm = "ring";
  EXPECT_NE(unit_seed(1, unit), unit_seed(1, other));
}

TEST_F(EngineTest, AShrinkBoxThatIsOverKeepsTheFirstFailure) {
  plant(RunStatus::failed);
  limits.shrink_s = 0;
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::falsified);
  EXPECT_EQ(finding.shrinks, 0);
  EXPECT_EQ(finding.minimal->data_seed > 1, true);
  EXPECT_EQ(backend.runs, finding.cases + finding.replays);
}

TEST_F(EngineTest, AReplayBoxThatIsOverMakesOneReplay) {
  plant(RunStatus::failed);
  limits.replay_s = 0;
  EXPECT_EQ(run().replays, 1);
}

TEST_F(EngineTest, ADeadlineBeforeTheCellsAreCoveredIsVacuous) {
  limits.deadline = std::chrono::steady_clock::now();
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_EQ(finding.cases, 0);
  EXPECT_EQ(finding.reason, "nothing was compared in 0 cases: the time limit was reached");
}

TEST_F(EngineTest, AFailureThatOutlastsTheDeadlineIsReplayedOnce) {
  backend.outcome = [this](const Case&) {
    std::this_thread::sleep_until(limits.deadline);
    return RunStatus::hung;
  };
  limits.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::hung);
  EXPECT_EQ(finding.shrinks, 0);
  EXPECT_EQ(finding.replays, 1);
  EXPECT_EQ(backend.runs, 2);
}

TEST_F(EngineTest, StopsWhenItIsTold) {
  std::atomic<bool> stop = false;
  backend.outcome = [&](const Case&) {
    stop = backend.runs == 5;
    return RunStatus::completed;
  };
  limits.stop = {.flag = &stop};
  EXPECT_EQ(run().cases, 5);
}

TEST_F(EngineTest, ACaseThatAStopCutsIsNotJudged) {
  backend.outcome = [&](const Case&) -> RunStatus {
    if (backend.runs == 5) throw Interrupted();
    return RunStatus::completed;
  };
  EXPECT_THROW(run(), Interrupted);
}

TEST_F(EngineTest, AQuestionThatAStopCutsIsNotJudged) {
  backend.refusal = [&](const Case&) -> std::string {
    if (backend.runs == 5) throw Interrupted();
    return {};
  };
  EXPECT_THROW(run(), Interrupted);
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

TEST_F(EngineTest, CountsCasesForAProgressDisplay) {
  std::atomic<std::int64_t> done = 0;
  limits.cases_done = &done;
  (void)run();
  EXPECT_EQ(done, 200);
}

TEST_F(EngineTest, AnAbsurdNumberOfCasesNeedsNoMemory) {
  std::atomic<bool> stop = false;
  backend.outcome = [&](const Case&) {
    stop = backend.runs == 5;
    return RunStatus::completed;
  };
  limits.stop = {.flag = &stop};
  unit.cases = 2'000'000'000;
  EXPECT_EQ(run().cases, 5);
}

struct PinnedTest : EngineTest {
  Case c = case_from_text(R"({"operation":"all_reduce","property":"completes","backend":"fake",)"
                          R"("ranks":3,"count":4,"type":"f32","op":"sum"})");

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
  EXPECT_EQ(finding.verdict, Verdict::crashed);
  EXPECT_EQ(finding.reason, "planted");
  EXPECT_EQ(finding.minimal, c);
  EXPECT_EQ(finding.replays, 5);
  EXPECT_EQ(finding.replays_failed, 5);
  EXPECT_EQ(backend.restarts, 5);
}

TEST_F(PinnedTest, FailureThatDoesNotReplayIsFlaky) {
  backend.outcome = [this](const Case&) {
    return backend.restarts == 0 ? RunStatus::failed : RunStatus::completed;
  };
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::flaky);
  EXPECT_EQ(finding.reason, "falsified in 0 of 5 replays: planted");
}

TEST_F(PinnedTest, WhatTheBackendRefusesIsSkipped) {
  backend.refusal = [](const Case&) { return "no"; };
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::skipped);
  EXPECT_EQ(finding.reason, name(SkipReason::not_supported));
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
  EXPECT_EQ(finding.verdict, Verdict::errored);
  EXPECT_EQ(finding.reason, "disk full");
  EXPECT_EQ(finding.cases, 0);
}

struct ReplayTest : EngineTest {
  Examiner examiner{catalogue, backend};
  Case c = case_from_text(R"({"operation":"all_reduce","property":"completes","backend":"fake",)"
                          R"("ranks":3,"count":4,"type":"f32","op":"sum"})");

  ReplayResult run_replay(ReplayLimits how = {}) { return replay(examiner, c, how); }
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

TEST_F(ReplayTest, IsFlakyWhereFailuresDiffer) {
  backend.outcome = [this](const Case&) {
    return backend.runs == 1 ? RunStatus::crashed : RunStatus::failed;
  };
  const ReplayResult result = run_replay({.replays = 3});
  EXPECT_EQ(result.verdict, Verdict::flaky);
  EXPECT_EQ(result.failed, 1);
  EXPECT_EQ(result.judgement.verdict, Verdict::crashed);
}

TEST_F(ReplayTest, CountsTheKindThatIsAskedFor) {
  backend.outcome = [this](const Case&) {
    return backend.runs == 1 ? RunStatus::crashed : RunStatus::failed;
  };
  const ReplayResult result = run_replay({.replays = 3, .kind = Verdict::falsified});
  EXPECT_EQ(result.failed, 2);
  EXPECT_EQ(result.judgement.verdict, Verdict::falsified);
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
