#include "harness/compare/comparison.hpp"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "harness/case.hpp"

#include "tests/harness/compare/sample_run.hpp"

namespace rankcheck::harness::compare {
namespace {

/// Returns the changes as "<kind> <what>", one on each line.
std::string changes_of(const Comparison& comparison) {
  std::string text;
  for (const Change& each : comparison.changes) {
    text += std::string(name(each.kind)) + ' ' + each.what + '\n';
  }
  return text;
}

class ComparisonTest : public testing::Test {
 protected:
  RunFinding& unit(const std::string& id) { return now_.findings.at(id); }
  [[nodiscard]] std::string changes() const { return changes_of(compare(before_, now_)); }

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

/// Each entry is one change of a report, and the only line that may come of it.
struct SingleChange {
  const char* name;
  std::function<void(RunReport&)> make;
  std::string line;
};

std::vector<SingleChange> changes_of_verdicts() {
  return {
      {"broken",
       [](RunReport& run) { run.findings.at(ring).verdict = Verdict::falsified; },
       "newly_broken " + std::string(ring)},
      {"flaky",
       [](RunReport& run) { run.findings.at(ring).verdict = Verdict::flaky; },
       "flaky " + std::string(ring)},
      {"flaky_in_place_of_wrong",
       [](RunReport& run) { run.findings.at(failing).verdict = Verdict::flaky; },
       "flaky " + std::string(failing)},
      {"mended",
       [](RunReport& run) { run.findings.at(failing).verdict = Verdict::passed; },
       "mended " + std::string(failing)},
      {"broken_where_nothing_ran",
       [](RunReport& run) { run.findings.at(skipped).verdict = Verdict::crashed; },
       "newly_broken " + std::string(skipped)},
  };
}

std::vector<SingleChange> changes_of_coverage() {
  return {
      {"runs_now",
       [](RunReport& run) { run.findings.at(skipped).verdict = Verdict::passed; },
       "coverage_gained */*/cuda"},
      {"unit_gone",
       [](RunReport& run) { run.findings.erase(law); },
       "coverage_lost " + std::string(law)},
      {"algorithm_gone",
       [](RunReport& run) { run.findings.erase(tree); },
       "coverage_lost all_reduce/tree/sim"},
      {"operation_gone",
       [](RunReport& run) { run.findings.erase(other); },
       "coverage_lost broadcast/*/sim"},
      {"backend_skipped",
       [](RunReport& run) { run.findings.at(failing).verdict = Verdict::skipped; },
       "coverage_lost */*/mpi"},
      {"vacuous",
       [](RunReport& run) { run.findings.at(law).verdict = Verdict::vacuous; },
       "coverage_lost " + std::string(law)},
      {"errored",
       [](RunReport& run) { run.findings.at(law).verdict = Verdict::errored; },
       "coverage_lost " + std::string(law)},
      {"cell_gone",
       [](RunReport& run) { run.findings.at(ring).cells = {"int8/sum"}; },
       "coverage_lost " + std::string(ring)},
      {"cell_more",
       [](RunReport& run) {
         run.findings.at(ring).cells = {"f32/sum", "f64/sum", "int8/sum"};
       },
       "coverage_gained " + std::string(ring)},
      {"fewer_cases",
       [](RunReport& run) { run.findings.at(ring).cases = 3; },
       "coverage_lost " + std::string(ring)},
  };
}

std::vector<SingleChange> changes_of_numbers() {
  return {
      {"larger_error",
       [](RunReport& run) { run.findings.at(ring).ratio_max *= 2; },
       "accuracy_lost " + std::string(ring)},
      {"an_error_where_all_was_exact",
       [](RunReport& run) { run.findings.at(other).ratio_max = 0.1; },
       "accuracy_lost " + std::string(other)},
      {"smaller_error",
       [](RunReport& run) { run.findings.at(ring).ratio_max /= 2; },
       "accuracy_gained " + std::string(ring)},
      {"slower",
       [](RunReport& run) {
         run.bench->measurements.at(large).times = {4, 4.1, 4.2};
       },
       "speed_lost bench/" + std::string(large)},
      {"faster",
       [](RunReport& run) {
         run.bench->measurements.at(large).times = {1, 1.1, 1.2};
       },
       "speed_gained bench/" + std::string(large)},
      {"measurement_gone",
       [](RunReport& run) { run.bench->measurements.erase(large); },
       "coverage_lost bench/" + std::string(large)},
      {"measurement_failed",
       [](RunReport& run) {
         run.bench->measurements.at(large) = {.times = {}, .failure = "no device"};
       },
       "coverage_lost bench/" + std::string(large)},
      {"measurement_more",
       [](RunReport& run) { run.bench->measurements["frames/sim/crop"].times = {1}; },
       "coverage_gained bench/frames/sim/crop"},
      {"processors_of_the_measurements",
       [](RunReport& run) { run.bench->context["num_cpus"] = 64; },
       "version bench.num_cpus"},
      {"blinder_checks",
       [](RunReport& run) { run.findings.at(ring).smallest_change = 0.1; },
       "power_lost " + std::string(ring)},
      {"a_case_without_power",
       [](RunReport& run) { run.findings.at(ring).powerless_cases = 1; },
       "power_lost " + std::string(ring)},
  };
}

std::vector<SingleChange> changes_of_circumstances() {
  return {
      {"a_known_defect_that_passes",
       [](RunReport& run) { run.known["max"] = "passing"; },
       "known known.max"},
      {"failing_only_as_known",
       [](RunReport& run) {
         run.findings.at(ring).verdict = Verdict::falsified;
         run.findings.at(ring).is_known = true;
       },
       "newly_broken " + std::string(ring)},
      {"skipped_for_another_reason",
       [](RunReport& run) { run.findings.at(skipped).reason = "no_device"; },
       "not_judged " + std::string(skipped)},
      {"a_unit_that_never_ran_is_gone",
       [](RunReport& run) { run.findings.erase(skipped); },
       "not_judged " + std::string(skipped)},
      {"another_seed", [](RunReport& run) { run.run["seed"] = 2; }, "options run.seed"},
      {"ended_early", [](RunReport& run) { run.ending = "time_over"; }, "options ending"},
      {"more_cases_asked_for_one_unit",
       [](RunReport& run) { run.findings.at(ring).asked["cases"] = 20; },
       "options " + std::string(ring)},
      {"more_cases_asked_for_all",
       [](RunReport& run) {
         for (auto& [id, finding] : run.findings) finding.asked["cases"] = 20;
       },
       "options */*/*"},
      {"fewer_cases_of_an_algorithm",
       [](RunReport& run) {
         for (const char* each : {ring, law}) run.findings.at(each).cases = 5;
       },
       "coverage_lost all_reduce/ring/sim"},
      {"driver_of_the_gate",
       [](RunReport& run) {
         run.environment["hardware"]["doctor"]["backends"][0]["versions"] = "535";
       },
       "version doctor.backends.cuda.versions"},
      {"library",
       [](RunReport& run) { run.environment["backends"]["mpi"]["versions"]["mpi"] = "MPICH"; },
       "version backends.mpi.versions.mpi"},
      {"rankcheck",
       [](RunReport& run) { run.environment["rankcheck"] = "2"; },
       "version rankcheck"},
      {"takes_longer",
       [](RunReport& run) { run.findings.at(ring).duration_s = 9.0; },
       "duration " + std::string(ring)},
  };
}

std::vector<SingleChange> single_changes() {
  std::vector<SingleChange> all;
  for (const auto& some : {changes_of_verdicts(),
                           changes_of_coverage(),
                           changes_of_numbers(),
                           changes_of_circumstances()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

class SingleChangeTest : public testing::TestWithParam<SingleChange> {};

TEST_P(SingleChangeTest, IsNamedAndOnlyIt) {
  RunReport now = sample_run();
  GetParam().make(now);
  std::string known;
  // The failure that both runs have is still broken, unless it is what changes.
  if (is_failure(now.findings.at(failing).verdict)) known = "still_broken " + std::string(failing);
  std::string got = changes_of(compare(sample_run(), now));
  const std::size_t at = known.empty() ? std::string::npos : got.find(known + '\n');
  if (at != std::string::npos) got.erase(at, known.size() + 1);
  EXPECT_EQ(got, GetParam().line + '\n');
}

INSTANTIATE_TEST_SUITE_P(Changes,
                         SingleChangeTest,
                         testing::ValuesIn(single_changes()),
                         [](const auto& each) { return std::string(each.param.name); });

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
  const Comparison comparison = compare(now_, [&] {
    RunReport later = sample_run();
    later.findings.at(ring).verdict = Verdict::falsified;
    return later;
  }());
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

/// Returns the only loss of coverage.
Change loss_in(const Comparison& comparison) {
  EXPECT_EQ(comparison.count(Kind::coverage_lost), 1);
  for (const Change& each : comparison.changes) {
    if (each.kind == Kind::coverage_lost) return each;
  }
  return {};
}

TEST_F(ComparisonTest, MeasurementsThatAreGoneAreLost) {
  now_.bench.reset();
  const Comparison gone = compare(before_, now_);
  EXPECT_EQ(loss_in(gone).what, "bench") << "one line for all";
  EXPECT_EQ(loss_in(gone).before, "2 measurements");
  EXPECT_TRUE(is_worse(gone, fail_on_from("coverage")));
  const Comparison back = compare(now_, before_);
  EXPECT_EQ(back.count(Kind::coverage_gained), 1);
  EXPECT_FALSE(is_worse(back, fail_on_from("coverage")));
}

TEST_F(ComparisonTest, ALinkWithoutItsBandwidthIsLost) {
  const std::string link = ring;
  before_.links[link] = {.times = {1e-3, 1e-3, 1e-3}, .bytes = 1e6};
  const Change gone = loss_in(compare(before_, now_));
  EXPECT_EQ(gone.before, "1 GB/s (1 to 1)");
  EXPECT_EQ(gone.now, "no bandwidth");
  EXPECT_EQ(compare(now_, before_).count(Kind::coverage_gained), 1);
  now_.links[link] = {.times = {9e-3, 9e-3, 9e-3}, .bytes = 2e6};
  const Comparison other = compare(before_, now_);
  EXPECT_EQ(other.links_of_other_sizes, 1);
  EXPECT_TRUE(other.is_empty());
  // A link that was not judged is lost as a unit.
  now_.links.clear();
  now_.findings.at(link).verdict = Verdict::skipped;
  EXPECT_EQ(loss_in(compare(before_, now_)).now, "skipped");
}

TEST_F(ComparisonTest, AUnitThatSeesLessLosesCoverage) {
  now_.findings.at(ring).powerless_cases = 1;
  const Comparison less = compare(before_, now_);
  EXPECT_EQ(less.count(Kind::power_lost), 1);
  EXPECT_TRUE(is_worse(less, fail_on_from("coverage")));
  const Comparison more = compare(now_, before_);
  EXPECT_EQ(more.count(Kind::power_gained), 1);
  EXPECT_FALSE(is_worse(more, fail_on_from("coverage")));
}

TEST_F(ComparisonTest, ASpeedIsOnlyWorseIfItMatters) {
  now_.bench->measurements.at(large).times = {9, 9, 9};
  const Comparison comparison = compare(before_, now_);
  EXPECT_TRUE(is_worse(comparison, fail_on_from("speed")));
  EXPECT_FALSE(is_worse(comparison, fail_on_from("broken,coverage,accuracy")));
  EXPECT_EQ(comparison.changes.back().before, "2.1 times the floor (2 to 2.2)");
}

TEST_F(ComparisonTest, OptionsOfUnitsNameWhatDiffers) {
  before_.findings.at(ring).asked = {{"cases", 100}, {"ranks", {1, 8}}};
  unit(ring).asked = {{"cases", 200}, {"ranks", {1, 8}}, {"types", {"f32"}}};
  const Comparison comparison = compare(before_, now_);
  ASSERT_EQ(comparison.count(Kind::options), 1);
  const Change& change = comparison.changes.back();
  EXPECT_EQ(change.before, "cases 100, no types");
  EXPECT_EQ(change.now, "cases 200, types [\"f32\"]");
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
  EXPECT_EQ(changes().find("coverage_lost"), std::string::npos) << changes();
  unit(ring).cells = {"int8/sum"};
  EXPECT_NE(changes().find("coverage_lost " + std::string(ring)), std::string::npos);
}

TEST_F(ComparisonTest, SmallDifferencesAreNoChange) {
  unit(ring).ratio_max *= 1.9;
  unit(ring).duration_s = 1.5;
  now_.environment["started"] = "later";
  EXPECT_EQ(changes(), "still_broken " + std::string(failing) + '\n');
}

TEST_F(ComparisonTest, RunsWithoutACommonUnitCannotBeCompared) {
  now_.findings.clear();
  try {
    static_cast<void>(compare(before_, now_));
    FAIL() << "expected BadInput";
  } catch (const BadInput& bad) {
    EXPECT_EQ(std::string(bad.what()),
              "sample and sample: no unit is in both: the first unit of the one is " +
                  before_.findings.begin()->first + ", and the first of the other is missing");
  }
}

TEST_F(ComparisonTest, OnlyWhatMattersMakesItWorse) {
  unit(ring).verdict = Verdict::falsified;
  unit(other).ratio_max = 0.9;
  now_.findings.erase(law);
  const Comparison comparison = compare(before_, now_);
  EXPECT_TRUE(is_worse(comparison, fail_on_from("broken")));
  EXPECT_TRUE(is_worse(comparison, fail_on_from("coverage")));
  EXPECT_TRUE(is_worse(comparison, fail_on_from("accuracy")));
  unit(ring).verdict = Verdict::passed;
  EXPECT_FALSE(is_worse(compare(before_, now_), fail_on_from("broken")));
  EXPECT_THROW(static_cast<void>(fail_on_from("broken,speeed")), BadInput);
  EXPECT_THROW(static_cast<void>(fail_on_from("")), BadInput);
}

}  // namespace
}  // namespace rankcheck::harness::compare
