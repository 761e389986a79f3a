#include "harness/finding.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/harness/sample.hpp"

namespace rankcheck::harness {
namespace {

TEST(FindingTest, IsReadAsItWasWritten) {
  const nlohmann::ordered_json written = to_json(sample_failure());
  EXPECT_EQ(to_json(finding_from_json(written)), written);
}

TEST(FindingTest, NanSurvivesJson) {
  const Finding read = finding_from_json(to_json(sample_failure()));
  EXPECT_NE(read.wrong.at(0).error, read.wrong.at(0).error);
}

TEST(FindingTest, MoreUsefulElementsThanThereAreIsRefused) {
  nlohmann::json changed = to_json(sample_failure());
  changed["power"]["useful"] = 1000;
  EXPECT_THROW(static_cast<void>(finding_from_json(changed)), BadInput);
}

TEST(FindingTest, UnknownVerdictIsRefusedByName) {
  nlohmann::json changed = to_json(sample_failure());
  changed["verdict"] = "green";
  try {
    static_cast<void>(finding_from_json(changed));
    FAIL() << "expected BadInput";
  } catch (const BadInput& bad) {
    EXPECT_NE(std::string(bad.what()).find("verdict: expected one of passed"), std::string::npos)
        << bad.what();
  }
}

TEST(FindingTest, UnknownFieldIsRefused) {
  nlohmann::json changed = to_json(sample_failure());
  changed["colour"] = "green";
  EXPECT_THROW(static_cast<void>(finding_from_json(changed)), BadInput);
}

TEST(FindingTest, OnlySkippedAndPassedAndErroredAreNotRed) {
  std::string red;
  for (std::size_t i = 0; i < verdict_names.size(); ++i) {
    if (is_red(static_cast<Verdict>(i))) red += std::string(verdict_names[i]) + ' ';
  }
  EXPECT_EQ(red, "falsified flaky hung crashed vacuous ");
}

TEST(MergeTest, AddsUpRoundsAndCoversWhatWasMissing) {
  Finding total = sample_finding("all_reduce", Verdict::passed);
  total.missing_cells = {"int8/sum"};
  Finding round = sample_finding("all_reduce", Verdict::passed);
  round.cells = {{"int8/sum", 3}};
  total.power = {.elements = 10, .useful = 9, .smallest_change = 0.5};
  round.power = {.elements = 5, .useful = 5, .smallest_change = 0.1};
  round.powerless_cases = 2;
  merge(total, round);
  EXPECT_EQ(total.power, (Power{.elements = 15, .useful = 14, .smallest_change = 0.5}));
  EXPECT_EQ(total.powerless_cases, 2);
  EXPECT_EQ(total.cases, 20);
  EXPECT_EQ(total.cells.size(), 2U);
  EXPECT_TRUE(total.missing_cells.empty());
}

TEST(MergeTest, KeepsTheMostRanksOfAllRounds) {
  Finding total = sample_finding("all_reduce", Verdict::passed);
  total.ranks_max = 3;
  Finding round = sample_finding("all_reduce", Verdict::passed);
  round.ranks_max = 1;
  merge(total, round);
  EXPECT_EQ(total.ranks_max, 3);
}

TEST(MergeTest, ACellThatSomeRoundCoveredIsNotRefused) {
  Finding total = sample_finding("all_reduce", Verdict::passed);
  total.refused_cells = {"int8/sum", "site/gap"};
  Finding round = sample_finding("all_reduce", Verdict::passed);
  round.cells = {{"int8/sum", 3}};
  merge(total, round);
  EXPECT_EQ(total.refused_cells, std::vector<std::string>{"site/gap"});
}

TEST(MergeTest, ACellThatNoRoundCoveredIsVacuous) {
  Finding total = sample_finding("all_reduce", Verdict::passed);
  Finding round = sample_finding("all_reduce", Verdict::passed);
  round.missing_cells = {"int8/sum"};
  merge(total, round);
  EXPECT_EQ(total.verdict, Verdict::vacuous);
  EXPECT_EQ(total.reason, "1 of 2 cells were not covered in 20 cases, first int8/sum");
  EXPECT_TRUE(lacks_coverage(total));
}

TEST(MergeTest, TheLastMissingCellMakesItPass) {
  Finding total = sample_finding("all_reduce", Verdict::passed);
  total.missing_cells = {"site/in_place"};
  judge_coverage(total);
  EXPECT_EQ(total.verdict, Verdict::vacuous);
  Finding round = sample_finding("all_reduce", Verdict::passed);
  round.cells = {{"site/in_place", 1}};
  merge(total, round);
  EXPECT_EQ(total.verdict, Verdict::passed);
  EXPECT_EQ(total.reason, "");
}

TEST(MergeTest, ASiteClassAloneComparesNothing) {
  Finding finding = sample_finding("all_reduce", Verdict::passed);
  finding.cells = {{"site/zero_count", 10}};
  judge_coverage(finding);
  EXPECT_EQ(finding.reason, "nothing was compared in 10 cases");
}

TEST(MergeTest, AFailureOfALaterRoundStays) {
  Finding total = sample_finding("all_reduce", Verdict::passed);
  merge(total, sample_failure());
  EXPECT_EQ(total.verdict, Verdict::falsified);
  EXPECT_TRUE(total.minimal);
}

TEST(MergeTest, AFailureIsWorseThanAnError) {
  Finding total = sample_finding("all_reduce", Verdict::errored);
  merge(total, sample_failure());
  EXPECT_EQ(total.verdict, Verdict::falsified);
}

TEST(MergeTest, KeepsTheFirstFailure) {
  Finding total = sample_failure();
  Finding later = sample_failure();
  later.reason = "another";
  merge(total, later);
  merge(total, sample_finding("all_reduce", Verdict::passed));
  EXPECT_EQ(total.verdict, Verdict::falsified);
  EXPECT_EQ(total.reason, "differs from the reference");
}

}  // namespace
}  // namespace rankcheck::harness
