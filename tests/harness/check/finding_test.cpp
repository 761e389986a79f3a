#include "harness/check/finding.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

TEST(FindingTest, IsReadAsItWasWritten) {
  // Its error is NaN, which is no number of JSON.
  const nlohmann::ordered_json written = to_json(sample_failure());
  const Finding read = finding_from_json(written);
  EXPECT_EQ(to_json(read), written);
  EXPECT_NE(read.wrong.at(0).error, read.wrong.at(0).error);
}

TEST(FindingTest, IsRefusedIfAFieldIsUnknownOrCannotBe) {
  const auto complaint = [](const char* field, const nlohmann::json& value) {
    nlohmann::json changed = to_json(sample_failure());
    changed[nlohmann::json::json_pointer(field)] = value;
    return complaint_of<BadInput>([&] { return finding_from_json(changed); });
  };
  EXPECT_NE(complaint("/power/useful", 1000), "") << "more useful elements than there are";
  EXPECT_NE(complaint("/colour", "green"), "");
  EXPECT_TRUE(
      has(complaint("/verdict", "green"), "verdict: got \"green\", expected one of passed"));
}

TEST(FindingTest, MembersOfCellsAreShortTexts) {
  nlohmann::json json = to_json(sample_failure());
  EXPECT_EQ(json["cell_members"]["f32/sum"], "2:4 3:6");
  for (const char* wrong : {"", "2", "2:", "2:0", "0:1", "2:1 2:1", "2:1 ", "2:1,3:1", "2:-1"}) {
    json["cell_members"]["f32/sum"] = wrong;
    EXPECT_THROW(static_cast<void>(finding_from_json(json)), BadInput) << wrong;
  }
  json.erase("cell_members");
  EXPECT_TRUE(finding_from_json(json).cell_members.empty()) << "reports of old versions";
}

TEST(FindingTest, OnlySkippedAndPassedAndErroredAreNotRed) {
  std::string red;
  for (std::size_t i = 0; i < verdict_names.size(); ++i) {
    if (is_red(static_cast<Verdict>(i))) red += std::string(verdict_names[i]) + ' ';
  }
  EXPECT_EQ(red, "falsified flaky hung crashed vacuous ");
}

struct MergeRoundsTest : testing::Test {
  Finding total = passed("all_reduce");
  Finding round = passed("all_reduce");
};

TEST_F(MergeRoundsTest, AddsUpRoundsAndCoversWhatWasMissing) {
  total.missing_cells = {"int8/sum"};
  round.cells = {{"int8/sum", 3}};
  total.cell_members = {{"f32/sum", {{{1, 9}, {2, 1}}}}};
  round.cell_members = {{"f32/sum", {{{2, 5}}}}, {"int8/sum", {{{4, 3}}}}};
  total.power = {.elements = 10, .useful = 9, .smallest_change = 0.5};
  round.power = {.elements = 5, .useful = 5, .smallest_change = 0.1};
  round.powerless_cases = 2;
  total.ranks_max = 3;
  round.ranks_max = 1;
  merge(total, round);
  EXPECT_EQ(total.power, (Power{.elements = 15, .useful = 14, .smallest_change = 0.5}));
  EXPECT_EQ(total.powerless_cases, 2);
  EXPECT_EQ(total.ranks_max, 3);
  EXPECT_EQ(total.cases, 20);
  EXPECT_EQ(total.cells.size(), 2U);
  EXPECT_EQ(total.cell_members,
            (std::map<std::string, MemberCounts>{{"f32/sum", {{{1, 9}, {2, 6}}}},
                                                 {"int8/sum", {{{4, 3}}}}}));
  EXPECT_TRUE(total.missing_cells.empty());
}

TEST_F(MergeRoundsTest, ACellThatSomeRoundCoveredIsNotRefused) {
  total.refused_cells = {"int8/sum", "site/gap"};
  round.cells = {{"int8/sum", 3}};
  merge(total, round);
  EXPECT_EQ(total.refused_cells, std::vector<std::string>{"site/gap"});
}

TEST_F(MergeRoundsTest, ACellThatNoRoundCoveredIsVacuous) {
  round.missing_cells = {"int8/sum"};
  merge(total, round);
  EXPECT_EQ(outcome_of(total),
            "vacuous: 1 of 2 cells were not covered in 20 cases, first int8/sum");
  EXPECT_TRUE(lacks_coverage(total));
}

TEST_F(MergeRoundsTest, TheLastMissingCellMakesItPass) {
  total.missing_cells = {"site/in_place"};
  judge_coverage(total);
  EXPECT_EQ(total.verdict, Verdict::vacuous);
  round.cells = {{"site/in_place", 1}};
  merge(total, round);
  EXPECT_EQ(outcome_of(total), "passed");
}

TEST_F(MergeRoundsTest, ACallClassAloneComparesNothing) {
  total.cells = {{"site/zero_count", 10}};
  judge_coverage(total);
  EXPECT_EQ(total.reason, "nothing was compared in 10 cases");
}

TEST_F(MergeRoundsTest, AFailureOfALaterRoundStaysAndIsWorseThanAnError) {
  for (const Verdict before : {Verdict::passed, Verdict::errored}) {
    total = sample_finding("all_reduce", before);
    merge(total, sample_failure());
    EXPECT_EQ(total.verdict, Verdict::falsified);
    EXPECT_TRUE(total.minimal);
  }
}

TEST_F(MergeRoundsTest, KeepsTheFirstFailure) {
  total = sample_failure();
  Finding later = sample_failure();
  later.reason = "another";
  merge(total, later);
  merge(total, round);
  EXPECT_EQ(outcome_of(total), "falsified: differs from the reference");
}

/// Returns a finding with a known failure.
Finding known_failure() {
  Finding finding = passed("all_reduce");
  KnownCount count{.id = "one", .covered = 3, .failed = 2, .verdict = Verdict::falsified};
  count.reason = "wrong";
  count.minimal.emplace();
  count.minimal->operation = "all_reduce";
  count.wrong = sample_failure().wrong;
  count.wrong[0].error = 1;
  count.wrong_count = 1;
  finding.known = {count};
  judge_coverage(finding);
  return finding;
}

TEST(KnownFindingTest, IsReadAsItWasWritten) {
  const nlohmann::ordered_json written = to_json(known_failure());
  EXPECT_EQ(written["is_known"], true);
  EXPECT_EQ(to_json(finding_from_json(written)), written);
}

TEST(KnownFindingTest, AFailureWithoutItsCaseIsRefused) {
  nlohmann::json changed = to_json(known_failure());
  changed["known"][0].erase("minimal");
  EXPECT_THROW(static_cast<void>(finding_from_json(changed)), BadInput);
}

TEST(KnownFindingTest, RoundsAreAdded) {
  Finding total = known_failure();
  merge(total, known_failure());
  EXPECT_TRUE(total.is_known);
  EXPECT_EQ(total.known[0].covered, 6);
  EXPECT_EQ(total.known[0].failed, 4);
  merge(total, passed("all_reduce"));
  EXPECT_TRUE(total.is_known) << "a round that passes mends nothing";
  EXPECT_EQ(total.cases, 30);
  merge(total, sample_failure());
  EXPECT_FALSE(total.is_known);
  EXPECT_EQ(total.known.size(), 1U);
}

TEST(KnownFindingTest, ALackOfCoverageGoesBeforeKnownFailures) {
  Finding finding = known_failure();
  finding.missing_cells = {"int8/sum"};
  judge_coverage(finding);
  EXPECT_EQ(finding.verdict, Verdict::vacuous);
  EXPECT_TRUE(is_red(finding));
  EXPECT_TRUE(lacks_coverage(finding)) << "further rounds may cover the cell";
  EXPECT_TRUE(finding.wrong.empty());
  Finding round = passed("all_reduce");
  round.cells = {{"int8/sum", 1}};
  merge(finding, round);
  EXPECT_TRUE(finding.is_known);
  EXPECT_EQ(finding.wrong_count, 1);
}

TEST(KnownFindingTest, ACellIsKnownUntilACaseCoversIt) {
  Finding total = known_failure();
  total.known_cells = {"int8/max"};
  Finding round = passed("all_reduce");
  round.missing_cells = {"int8/max"};
  merge(total, round);
  EXPECT_TRUE(total.missing_cells.empty());
  EXPECT_EQ(total.known_cells, std::vector<std::string>{"int8/max"});
  round.missing_cells.clear();
  round.cells["int8/max"] = 1;
  merge(total, round);
  EXPECT_TRUE(total.known_cells.empty());
}

}  // namespace
}  // namespace rankcheck::harness
