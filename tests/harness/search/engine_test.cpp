#include "harness/search/engine.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/report/summary.hpp"

#include "tests/harness/search/engine_fixture.hpp"

namespace rankcheck::harness {
namespace {

TEST_F(EngineTest, PassesAndCountsWhatHolds) {
  std::atomic<std::int64_t> done = 0;
  limits.cases_done = &done;
  const Finding finding = run();
  EXPECT_EQ(outcome_of(finding), "passed");
  EXPECT_EQ(finding.cases, 200);
  EXPECT_EQ(backend.runs, 200);
  EXPECT_EQ(done, 200) << "for a progress display";
  EXPECT_GT(finding.compared_bytes, 200);
  EXPECT_EQ(finding.cells.size(), all_cells);
  EXPECT_TRUE(finding.missing_cells.empty());
  EXPECT_FALSE(finding.minimal);
}

TEST_F(EngineTest, CasesOfEachCellAreCountedByTheirMembers) {
  const Finding finding = run();
  std::map<int, std::int64_t> all;
  for (const auto& [cell, counts] : finding.cell_members) {
    std::int64_t cases = 0;
    for (const auto& [members, each] : counts.cases) {
      cases += each;
      all[members] += each;
    }
    EXPECT_EQ(cases, finding.cells.at(cell)) << cell;
  }
  for (const int members : {1, 3, 8}) {
    EXPECT_EQ(all[members], finding.cells.at("ranks/" + std::to_string(members))) << members;
  }
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
  unit.cases = 105;
  EXPECT_EQ(outcome(), "passed");
}

TEST_F(EngineTest, FewerCasesThanCellsAreVacuous) {
  unit.cases = 103;
  const Finding finding = run();
  EXPECT_EQ(finding.missing_cells.size(), 2U);
  EXPECT_EQ(outcome_of(finding),
            "vacuous: 2 of 135 cells were not covered in 103 cases, first " +
                finding.missing_cells.front());
}

TEST_F(EngineTest, ACallClassThatIsNeverRunIsVacuous) {
  // The case runs, but the property does not compare it.
  Property property = fake::completes("looks_away_in_place");
  property.check = [](const Evidence& evidence, Judgement& judgement) {
    if (!evidence.stages[0].in_place) fake::completes().check(evidence, judgement);
  };
  use(property);
  unit.cases = 4000;
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_EQ(finding.missing_cells, std::vector<std::string>{"site/in_place"});
}

TEST_F(EngineTest, CasesWithoutPowerAreCountedAndCoverNothing) {
  Property property = fake::completes("is_blind_in_place");
  property.check = [](const Evidence& evidence, Judgement& judgement) {
    fake::completes().check(evidence, judgement);
    judgement.see(1, evidence.stages[0].in_place ? 1 : 0, "the output");
  };
  use(property);
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_FALSE(finding.cells.contains("site/in_place"));
  EXPECT_GT(finding.powerless_cases, 0);
  EXPECT_EQ(finding.power.elements, finding.cases);
  EXPECT_EQ(finding.power.useful, finding.cases - finding.powerless_cases);
  EXPECT_EQ(finding.power.smallest_change, 1);
}

TEST_F(EngineTest, AnAlgorithmThatNobodySawIsVacuousWithTheReason) {
  unit.algorithm = "ring: not seen to run";
  EXPECT_EQ(
      outcome(),
      "vacuous: nothing was compared in 200 cases: asked for algorithm ring: not seen to run");
}

TEST_F(EngineTest, ATypeOfWhichNothingIsEverComparedIsVacuous) {
  Property property = fake::completes("has_nothing_of_int8");
  property.adapt = [](const spec::Contract&, Case& c) {
    if (c.type == spec::Type::int8) c.count = 0;
  };
  use(property);
  unit.cases = 1000;
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_GT(finding.missing_cells.size(), 1U);
  for (const std::string& cell : finding.missing_cells) EXPECT_TRUE(begins(cell, "int8/"));
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
  EXPECT_EQ(finding.missing_cells, std::vector<std::string>{"f32/sum"});
  EXPECT_EQ(outcome_of(finding),
            "vacuous: 1 of 130 cells were not covered in 200 cases, first f32/sum, which is not "
            "offered");
  unit.require = {"broadcast/*", "all_reduce/f64/*"};
  EXPECT_EQ(run().verdict, Verdict::passed);
}

/// What was required is the cell, not that the backend can do what one property needs besides.
TEST_F(EngineTest, ARequiredCellIsSkippedWhereOnlyThePropertyNeedsMore) {
  Property more = fake::completes("needs_in_place");
  more.program = [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
    stages.assign(1, c);
    stages.front().in_place = true;
  };
  catalogue = fake::catalogue({fake::completes("agrees_with_reference"), more});
  unit.property = "needs_in_place";
  unit.require = {"all_reduce/f32/sum"};
  backend.refusal = [](const Case& c) { return c.in_place ? "no" : ""; };
  EXPECT_EQ(run().verdict, Verdict::skipped);
  backend.refusal = [](const Case& c) {
    return c.in_place || c.type == spec::Type::f32 ? "no" : "";
  };
  EXPECT_EQ(run().verdict, Verdict::vacuous);
}

TEST_F(EngineTest, WhatTheBackendRefusesAltogetherIsSkippedUnlessACellIsRequired) {
  backend.refusal = [](const Case&) { return "no"; };
  Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::skipped);
  EXPECT_EQ(finding.reason, name(SkipReason::not_supported));
  EXPECT_EQ(finding.refusal, "no");
  EXPECT_EQ(backend.runs, 0);
  unit.require = {"all_reduce/f32/sum"};
  finding = run();
  EXPECT_EQ(outcome_of(finding),
            "vacuous: the backend refuses all cases, and f32/sum is required: no");
  EXPECT_EQ(finding.missing_cells, std::vector<std::string>{"f32/sum"});
}

TEST_F(EngineTest, FewerCasesThanCellsAreEnoughForThoseThatAreRequired) {
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
  EXPECT_EQ(outcome_of(finding), "vacuous: no case had more than 1 rank, expected one of 2 ranks");
  EXPECT_TRUE(lacks_coverage(finding));
  unit.ranks_required = 1;
  EXPECT_EQ(run().verdict, Verdict::passed);
}

TEST_F(EngineTest, EvenASingleCaseHasTheRanksThatAreRequired) {
  unit.cases = 1;
  unit.require_all_cells = false;
  unit.ranks_required = 2;
  for (limits.seed = 1; limits.seed <= 50; ++limits.seed) {
    EXPECT_EQ(outcome(), "passed") << limits.seed;
  }
}

TEST_F(EngineTest, CasesThatAreRefusedWhenTheyRunAreNoCases) {
  int judged_of = 12;
  plant(RunStatus::refused, [&, runs = 0](const Case&) mutable { return ++runs % judged_of != 0; });
  unit.cases = 12;
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_EQ(finding.cases, 1);
  EXPECT_EQ(finding.refused_cases, 11);
  EXPECT_TRUE(has(finding.reason, "; the backend refused 11 cases"));
  // A run may be refused at any time, but most of them say something.
  unit.require_all_cells = false;
  EXPECT_EQ(run().reason,
            "judged 1 of 12 cases, expected most of them; the backend refused 11 cases: planted");
  judged_of = 2;
  EXPECT_EQ(run().verdict, Verdict::passed);
}

TEST_F(EngineTest, ShortRoundsCoverTogetherWhatALongOneDoes) {
  unit.cases = 16;
  Finding total = run();
  EXPECT_EQ(total.verdict, Verdict::vacuous);
  for (int round = 1; round < 8; ++round) {
    limits.seed = mix(1, static_cast<std::uint64_t>(round));
    limits.covered = total.cells;
    merge(total, run());
  }
  EXPECT_EQ(total.verdict, Verdict::passed) << total.reason;
  EXPECT_EQ(total.cases, 128);
}

TEST_F(EngineTest, ComparingNothingIsVacuous) {
  unit.property = "looks_away";
  unit.require_all_cells = false;
  EXPECT_EQ(outcome(),
            "vacuous: nothing was compared in 200 cases: nothing was compared of the output of "
            "rank 0");
}

TEST_F(EngineTest, AnOperationThatSynchronisesIsComparedByItsStamps) {
  unit = fake::unit("barrier");
  unit.property = "looks_away";
  EXPECT_EQ(run().verdict, Verdict::passed);
}

TEST_F(EngineTest, SkipsHugeCasesThatTheMemoryCannotHold) {
  unit = fake::unit("broadcast", 1);
  unit.ranks_min = unit.ranks_max = 2;
  unit.types = {spec::Type::int8};
  unit.require_all_cells = false;
  unit.count = 1000;
  // In place, each of the two ranks has 1000 bytes, two guards of 64 bytes, and a block of its
  // buffer; the root has a block for the input, too. Three copies count.
  const auto blocks = static_cast<std::int64_t>(3 * sizeof(spec::Block));
  limits.memory_bytes = 3 * (std::int64_t{2} * (1000 + 2 * 64) + blocks) - 1;
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::skipped);
  EXPECT_EQ(finding.reason, name(SkipReason::no_memory));
  EXPECT_EQ(backend.runs, 0);
  ++limits.memory_bytes;
  EXPECT_EQ(run().verdict, Verdict::passed);
  EXPECT_EQ(backend.runs, 1);
}

TEST_F(EngineTest, APropertyThatAppliesToNoCaseIsVacuous) {
  Property property = fake::completes("never_applies");
  property.applies = [](const spec::Contract&, const Case&) { return false; };
  use(property);
  EXPECT_EQ(run().verdict, Verdict::vacuous);
}

TEST_F(EngineTest, AnUnknownOperationIsErrored) {
  unit.operation = "unheard_of";
  EXPECT_EQ(outcome(), "errored: operation: unknown name \"unheard_of\"");
}

TEST_F(EngineTest, StopsWhereTheEnvironmentFails) {
  plant(RunStatus::errored, [this](const Case&) { return backend.runs == 10; });
  const Finding finding = run();
  EXPECT_EQ(outcome_of(finding), "errored: planted");
  EXPECT_EQ(finding.cases, 9);
  EXPECT_EQ(backend.runs, 10);
  EXPECT_TRUE(finding.minimal);
}

TEST_F(EngineTest, WhatABackendThrowsIsTheEnvironmentsFailure) {
  backend.outcome = [](const Case&) -> RunStatus { throw std::runtime_error("disk full"); };
  EXPECT_EQ(outcome(), "errored: disk full");
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

TEST_F(EngineTest, ADeadlineBeforeTheCellsAreCoveredIsVacuous) {
  limits.deadline = std::chrono::steady_clock::now();
  const Finding finding = run();
  EXPECT_EQ(finding.cases, 0);
  EXPECT_EQ(outcome_of(finding),
            "vacuous: nothing was compared in 0 cases: the time limit was reached");
}

/// A number of cases for which no memory would suffice is drawn one case at a time.
TEST_F(EngineTest, StopsWhenItIsTold) {
  std::atomic<bool> stop = false;
  plant(RunStatus::failed, [&](const Case&) {
    stop = backend.runs == 5;
    return false;
  });
  limits.stop = {.flag = &stop};
  unit.cases = 2'000'000'000;
  EXPECT_EQ(run().cases, 5);
}

TEST_F(EngineTest, ACaseOrAQuestionThatAStopCutsIsNotJudged) {
  int last = 5;
  const auto cut = [&](const Case&) {
    if (backend.runs == last) throw Interrupted();
    return false;
  };
  plant(RunStatus::failed, cut);
  EXPECT_EQ(run().cases, 4);
  backend.runs = 0;
  last = 1;
  EXPECT_THROW(run(), Interrupted) << "no case was judged";
  backend.runs = 0;
  last = 5;
  plant(RunStatus::failed, [](const Case&) { return false; });
  backend.refusal = [&](const Case& c) { return cut(c) ? "no" : ""; };
  EXPECT_EQ(run().cases, 5);
}

TEST_F(EngineTest, CountsAFailureForAProgressDisplayUntilItIsReplayed) {
  std::atomic<int> shrinking = 0;
  limits.failures_shrinking = &shrinking;
  std::vector<int> seen;
  plant(RunStatus::failed, [&](const Case&) {
    seen.push_back(shrinking);
    return seen.size() >= 3;
  });
  EXPECT_EQ(run().verdict, Verdict::falsified);
  ASSERT_GT(seen.size(), 8);
  EXPECT_EQ(std::vector<int>(seen.begin(), seen.begin() + 3), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(std::count(seen.begin() + 3, seen.end(), 1), seen.end() - seen.begin() - 3);
  EXPECT_EQ(shrinking, 0);
}

}  // namespace
}  // namespace rankcheck::harness
