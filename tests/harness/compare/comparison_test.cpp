#include "harness/compare/comparison.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "harness/case/case.hpp"

#include "tests/harness/compare/sample_run.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness::compare {
namespace {

/// Returns the only loss of coverage.
Change loss_in(const Comparison& comparison) {
  EXPECT_EQ(comparison.count(Kind::coverage_lost), 1);
  for (const Change& each : comparison.changes) {
    if (each.kind == Kind::coverage_lost) return each;
  }
  return {};
}

class ComparisonTest : public testing::Test {
 protected:
  RunFinding& unit(const std::string& id) { return now_.findings.at(id); }
  [[nodiscard]] std::string changes() const { return lines_of(compare(before_, now_).changes); }

  RunReport before_ = sample_run();
  RunReport now_ = sample_run();
};

TEST_F(ComparisonTest, ARunAgainstItselfHasNoChange) {
  EXPECT_EQ(changes(), "still_broken " + std::string(failing) + '\n');
  EXPECT_EQ(compare(before_, now_).common_units, 5) << "all but the skipped one";
  before_.findings.erase(failing);
  now_.findings.erase(failing);
  EXPECT_EQ(changes(), "");
}

TEST_F(ComparisonTest, WhatWasAskedForOfAllUnitsIsOneChange) {
  for (auto& [id, finding] : now_.findings) finding.asked["cases"] = 20;
  EXPECT_EQ(changes(), "still_broken " + std::string(failing) + "\noptions */*/*\n");
}

/// The versions that went with the backend are named, too.
TEST_F(ComparisonTest, ABackendThatIsGoneIsOneLoss) {
  const std::string id = "all_reduce/*/mpi/*";
  add_unit(before_, "broadcast/blocking/mpi/agrees_with_reference", Verdict::passed);
  now_.findings.erase(failing);
  add_unit(now_, id, Verdict::skipped);
  now_.findings.at(id).reason = "backend_unavailable";
  now_.environment.erase("backends");
  now_.environment["unavailable_backends"]["mpi"] = "mpiexec is missing";
  EXPECT_EQ(changes(),
            "coverage_lost */*/mpi\nnot_judged all_reduce/*/mpi\nversion backends\n"
            "version unavailable_backends\n");
  const Change loss = loss_in(compare(before_, now_));
  EXPECT_EQ(loss.before, "2 judged units");
  EXPECT_EQ(loss.now, "not in this run");
}

/// What a release of a library does not have any more is no loss of the check.
TEST_F(ComparisonTest, AnAlgorithmThatAnotherVersionLacksIsNoLoss) {
  before_.environment["backends"]["mpi"] = {{"versions", {{"mpi", "4"}}}};
  now_.environment["backends"]["mpi"] = {{"versions", {{"mpi", "5"}}}};
  add_unit(before_, "all_reduce/over_tcp/mpi/agrees_with_reference", Verdict::passed);
  add_unit(now_, "all_reduce/sparbit/mpi/agrees_with_reference", Verdict::passed);
  for (RunReport* each : {&before_, &now_}) {
    add_unit(*each, "broadcast/blocking/mpi/agrees_with_reference", Verdict::passed);
  }
  add_unit(before_, "broadcast/sparbit/mpi/agrees_with_reference", Verdict::passed);
  const Comparison comparison = compare(before_, now_);
  EXPECT_EQ(comparison.count(Kind::coverage_lost), 0);
  EXPECT_EQ(comparison.count(Kind::coverage_gained), 0);
  const auto change = std::ranges::find_if(comparison.changes, [](const Change& each) {
    return each.what == "algorithms of mpi in one run only";
  });
  ASSERT_NE(change, comparison.changes.end());
  EXPECT_EQ(change->before, "broadcast/sparbit, over_tcp");
  EXPECT_EQ(change->now, "all_reduce/sparbit");
}

class KnownFailureTest : public ComparisonTest {
 protected:
  KnownFailureTest() {
    unit(ring).verdict = Verdict::falsified;
    unit(ring).is_known = true;
    unit(ring).known = {{.id = "max", .covered = 5, .failed = 2},
                        {.id = "min", .covered = 5, .failed = 0}};
  }
};

TEST_F(KnownFailureTest, StaysVisibleAndIsNotWorse) {
  const Comparison comparison = compare(before_, now_);
  ASSERT_EQ(comparison.count(Kind::newly_broken), 1);
  const Change& change = comparison.changes.front();
  EXPECT_EQ(change.now, "falsified as known");
  EXPECT_EQ(change.known, std::vector<std::string>{"max"}) << "the other entry did not fail";
  EXPECT_FALSE(is_worse(comparison, fail_on_from("broken")));
  unit(ring).is_known = false;
  EXPECT_TRUE(is_worse(compare(before_, now_), fail_on_from("broken")));
}

/// Otherwise a known defect would hide another one.
TEST_F(KnownFailureTest, DoesNotExcuseAnotherFailureLater) {
  RunReport later = sample_run();
  later.findings.at(ring).verdict = Verdict::falsified;
  const Comparison comparison = compare(now_, later);
  EXPECT_EQ(comparison.count(Kind::newly_broken), 1);
  EXPECT_TRUE(is_worse(comparison, fail_on_from("broken")));
}

/// A unit that failed only as known ran to its end.
TEST_F(KnownFailureTest, StillHasItsCoverageCompared) {
  before_ = now_;
  unit(ring).cells = {"int8/sum"};
  EXPECT_EQ(compare(before_, now_).count(Kind::coverage_lost), 1);
  unit(ring).may_hide_others = true;
  EXPECT_EQ(compare(before_, now_).count(Kind::coverage_lost), 0);
}

/// A run that goes on past known failures draws other cases than a run that knows of none.
TEST_F(KnownFailureTest, OnOneSideOnlyMakesChanceOfWhatIsNotRequired) {
  RunFinding& now = unit(ring);
  now.cells = {"int8/sum"};
  now.ratio_max = 1e-9;
  now.smallest_change = 1e-9;
  now.requires_all_cells = before_.findings.at(ring).requires_all_cells = false;
  const auto counts = [&] {
    const Comparison all = compare(before_, now_);
    return all.count(Kind::coverage_lost) + all.count(Kind::accuracy_gained) +
           all.count(Kind::power_lost) + all.count(Kind::power_gained);
  };
  EXPECT_EQ(counts(), 0);
  now.requires_all_cells = before_.findings.at(ring).requires_all_cells = true;
  EXPECT_EQ(counts(), 1) << "the cells that both require";
}

/// A flaky unit that passes may have had luck.
TEST_F(ComparisonTest, AFlakyUnitThatPassesIsNotMended) {
  before_.findings.at(ring).verdict = Verdict::flaky;
  const Comparison comparison = compare(before_, now_);
  EXPECT_EQ(comparison.count(Kind::flaky), 1);
  EXPECT_EQ(comparison.count(Kind::mended), 0);
  EXPECT_FALSE(is_worse(comparison, fail_on_from("broken,coverage,accuracy")));
}

TEST_F(ComparisonTest, OnlyAUnitThatHeldBeforeIsWorseIfItIsFlaky) {
  unit(ring).verdict = Verdict::flaky;
  EXPECT_TRUE(is_worse(compare(before_, now_), fail_on_from("broken")));
  before_.findings.at(ring).verdict = Verdict::hung;
  EXPECT_FALSE(is_worse(compare(before_, now_), fail_on_from("broken")));
}

TEST_F(ComparisonTest, UnitsThatFailAsBeforeAreNoChange) {
  EXPECT_TRUE(compare(before_, now_).is_empty());
  unit(failing).reason = "differs in another way";
  const Comparison comparison = compare(before_, now_);
  EXPECT_FALSE(comparison.is_empty());
  EXPECT_EQ(comparison.changes.front().kind, Kind::still_broken);
  EXPECT_FALSE(is_worse(comparison, fail_on_from("broken")));
}

TEST_F(ComparisonTest, ASpeedNeedsMeasurementsOfKnownNoiseInBothRuns) {
  now_.bench->measurements.at(large).times = {9};
  const Comparison comparison = compare(before_, now_);
  EXPECT_EQ(comparison.count(Kind::speed_lost), 0);
  EXPECT_EQ(comparison.compared_speeds, 1);
  EXPECT_EQ(comparison.unknown_speeds, 1);
  now_.bench.reset();
  EXPECT_EQ(compare(before_, now_).compared_speeds, 0);
}

TEST_F(ComparisonTest, OnlyLinksOfOneSizeAreCompared) {
  const std::string link = ring;
  before_.links[link] = {.times = {1e-3, 1e-3, 1e-3}, .bytes = 1e6};
  now_.links[link] = {.times = {9e-3, 9e-3, 9e-3}, .bytes = 2e6};
  const Comparison other = compare(before_, now_);
  EXPECT_EQ(other.links_of_other_sizes, 1);
  EXPECT_TRUE(other.is_empty());
  // A link that was not judged is lost as a unit.
  now_.links.clear();
  now_.findings.at(link).verdict = Verdict::skipped;
  EXPECT_EQ(loss_in(compare(before_, now_)).now, "skipped");
}

TEST_F(ComparisonTest, AFailureSaysHowItWasAndHowToRunItAgain) {
  unit(ring).verdict = Verdict::falsified;
  unit(ring).reason = "differs";
  unit(ring).minimal = {{"operation", "all_reduce"}};
  const Comparison comparison = compare(before_, now_);
  ASSERT_EQ(comparison.count(Kind::newly_broken), 1);
  const Change& change = comparison.changes.front();
  EXPECT_EQ(change.before, "passed");
  EXPECT_EQ(change.now, "falsified: differs");
  EXPECT_EQ(change.minimal["operation"], "all_reduce");
}

/// Cells that are not required are covered by chance.
TEST_F(ComparisonTest, AnotherSeedMayCoverOtherCellsIfTheyAreNotRequired) {
  now_.run["seed"] = 2;
  unit(law).cells = {"int8/sum"};
  EXPECT_FALSE(has(changes(), "coverage_lost"));
  unit(ring).cells = {"int8/sum"};
  EXPECT_TRUE(has(changes(), "coverage_lost " + std::string(ring)));
}

TEST_F(ComparisonTest, SmallDifferencesAreNoChange) {
  unit(ring).ratio_max *= 1.9;
  unit(ring).duration_s = 1.5;
  now_.environment["started"] = "later";
  EXPECT_EQ(changes(), "still_broken " + std::string(failing) + '\n');
}

TEST_F(ComparisonTest, RunsWithoutACommonUnitCannotBeCompared) {
  now_.findings.clear();
  EXPECT_EQ(complaint_of<BadInput>([&] { return compare(before_, now_); }),
            "sample and sample: no unit is in both: the first unit of the one is " +
                before_.findings.begin()->first + ", and the first of the other is missing");
}

/// SingleChangeTest says which kinds of changes count for which word.
TEST_F(ComparisonTest, OnlyWordsThatAreKnownSayWhatMatters) {
  EXPECT_EQ(fail_on_from("broken,speed"), (std::set<FailOn>{FailOn::broken, FailOn::speed}));
  EXPECT_THROW(static_cast<void>(fail_on_from("broken,speeed")), BadInput);
  EXPECT_THROW(static_cast<void>(fail_on_from("")), BadInput);
}

}  // namespace
}  // namespace rankcheck::harness::compare
