#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/compare/comparison_text.hpp"

#include "tests/harness/compare/sample_run.hpp"
#include "tests/harness/page/page_text.hpp"
#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness::compare {
namespace {

using nlohmann::ordered_json;
using page::data_of;

const std::set<FailOn> defaults{FailOn::broken, FailOn::coverage};

std::string page_of(const RunReport& before, const RunReport& now) {
  const Comparison comparison = compare(before, now);
  const std::vector<RunReport> all{before, now};
  return to_html({before, now, comparison, defaults, trend_of(all)});
}

ordered_json data_for(const RunReport& before, const RunReport& now) {
  return data_of(page_of(before, now));
}

/// Lets a unit of the run fail, with the finding of a report.
void break_unit(RunReport& run, const std::string& id) {
  const std::size_t slash = id.find('/');
  Finding failure = sample_failure();
  failure.unit.operation = id.substr(0, slash);
  failure.unit.algorithm = id.substr(slash + 1, id.find('/', slash + 1) - slash - 1);
  ASSERT_EQ(failure.unit.id(), id);
  RunFinding& finding = run.findings.at(id);
  finding.verdict = Verdict::falsified;
  finding.reason = failure.reason;
  finding.whole = to_json(failure);
  finding.minimal = finding.whole["minimal"];
}

TEST(ComparisonPageTest, WithoutItsScriptItShowsTheVerdictAndTheChanges) {
  RunReport now = sample_run();
  break_unit(now, ring);
  const std::string page = page_of(sample_run(), now);
  EXPECT_TRUE(has(page, "<title>rankcheck: worse</title>"));
  EXPECT_TRUE(has(page, ">Worse: 1 unit is newly broken.</h1>"));
  EXPECT_TRUE(has(page, "rankcheck replay '{\"operation\":\"all_reduce\""));
  EXPECT_TRUE(has(page_of(sample_run(), sample_run()), "<title>rankcheck: not worse</title>"));
}

TEST(ComparisonPageTest, CarriesTheComparison) {
  RunReport now = sample_run();
  break_unit(now, ring);
  const ordered_json data = data_for(sample_run(), now);
  const std::vector<RunReport> all{sample_run(), now};
  const Comparison comparison = compare(all[0], all[1]);
  ordered_json expected = to_json({all[0], all[1], comparison, defaults, trend_of(all)});
  EXPECT_TRUE(data["comparison"]["changes"][0]["replay"].get<std::string>().starts_with(
      "rankcheck replay '{\"operation\":\"all_reduce\""));
  EXPECT_EQ(data["comparison"]["before"], expected["before"]);
  EXPECT_EQ(data["comparison"]["counts"], expected["counts"]);
  EXPECT_EQ(data["counted"]["newly_broken"], "1 unit is newly broken");
}

TEST(ComparisonPageTest, FailuresHaveFindingsAndCauses) {
  RunReport now = sample_run();
  break_unit(now, ring);
  const ordered_json data = data_for(sample_run(), now);
  ASSERT_EQ(data["causes"].size(), 1U);
  const ordered_json& cause = data["causes"][0];
  EXPECT_EQ(cause["kind"], "newly_broken");
  EXPECT_EQ(cause["is_known"], false);
  EXPECT_EQ(cause["units"], ordered_json({ring}));
  EXPECT_EQ(data["findings"][0]["id"], ring);
  EXPECT_EQ(data["findings"][0]["page"]["says"][0], "The contribution of rank 2 is missing.");
}

TEST(ComparisonPageTest, CausesOfUnitsThatPassedBeforeComeFirst) {
  RunReport before = sample_run();
  RunReport now = sample_run();
  for (const char* algorithm : {"a", "b", "c"}) {
    const std::string id = fmt::format("all_reduce/{}/sim/agrees_with_reference", algorithm);
    add_unit(now, id, Verdict::passed);
    break_unit(now, id);
    // The reason is the cause of a failure without wrong elements.
    auto& whole = now.findings.at(id).whole;
    whole["reason"] = fmt::format("cause {}", algorithm);
    whole.erase("wrong");
    whole.erase("wrong_count");
    if (*algorithm == 'c') add_unit(before, id, Verdict::passed);
  }
  std::string order;
  const ordered_json data = data_for(before, now);
  for (const ordered_json& each : data["causes"]) {
    order += each["units"][0].get<std::string>().substr(11, 1);
  }
  EXPECT_EQ(order, "cab");
}

TEST(ComparisonPageTest, KnownFailuresHaveCausesOfTheirOwn) {
  RunReport now = sample_run();
  break_unit(now, ring);
  break_unit(now, tree);
  now.findings.at(tree).is_known = true;
  now.findings.at(tree).known = {{.id = "max", .covered = 1, .failed = 1}};
  const ordered_json data = data_for(sample_run(), now);
  ASSERT_EQ(data["causes"].size(), 2U);
  EXPECT_EQ(data["causes"][0]["units"], ordered_json({ring}));
  EXPECT_EQ(data["causes"][1]["units"], ordered_json({tree}));
  EXPECT_EQ(data["causes"][1]["is_known"], true);
  EXPECT_EQ(data["counted"]["newly_broken"], "1 unit is newly broken (1 more as known)");
}

TEST(ComparisonPageTest, AFindingOfAnotherVersionHasNoCause) {
  RunReport now = sample_run();
  break_unit(now, ring);
  RunFinding& finding = now.findings.at(ring);
  finding.whole["minimal"]["a_field_of_tomorrow"] = 1;
  finding.minimal = finding.whole["minimal"];
  const ordered_json data = data_for(sample_run(), now);
  EXPECT_TRUE(data["causes"].empty());
  const std::string replay = data["comparison"]["changes"][0]["replay"];
  EXPECT_TRUE(has(replay, "a_field_of_tomorrow"));
}

TEST(ComparisonPageTest, HasWhatEachRunChecked) {
  RunReport now = sample_run();
  now.findings.erase(other);
  now.findings.at(ring).ranks_max = 8;
  const ordered_json expected{{"operations", "2: all_reduce, broadcast", "1: all_reduce"},
                              {"algorithms", "4", "3"},
                              // Nothing was judged on cuda.
                              {"backends", "2: mpi, sim", "2: mpi, sim"},
                              {"ranks", "not known", "up to 8"},
                              {"judged units", "5", "4"},
                              {"cases", "50", "40"},
                              {"covered cells", "6", "4"}};
  EXPECT_EQ(data_for(sample_run(), now)["checked"], expected);
}

TEST(ComparisonPageTest, CoverageNamesTheCellsThatDiffer) {
  RunReport now = sample_run();
  now.findings.at(other).cells = {"f32/sum", "ranks/3"};
  const ordered_json cells = data_for(sample_run(), now)["cells"];
  EXPECT_NE(std::find(cells.begin(),
                      cells.end(),
                      ordered_json({"broadcast", "sim", 2, 2, "lost int8/sum; gained ranks/3"})),
            cells.end())
      << cells;
}

TEST(ComparisonPageTest, ATrendHasTheVerdictsBesideKnownFailures) {
  std::vector<RunReport> all{sample_run(), sample_run(), sample_run()};
  all[1].findings.at(other).verdict = Verdict::crashed;
  const Comparison comparison = compare(all[1], all[2]);
  const ordered_json data = data_of(to_html({all[1], all[2], comparison, defaults, trend_of(all)}));
  ASSERT_FALSE(data["comparison"]["trend"].empty());
  for (const ordered_json& row : data["comparison"]["trend"]) EXPECT_EQ(row["beside"].size(), 3U);
}

}  // namespace
}  // namespace rankcheck::harness::compare
