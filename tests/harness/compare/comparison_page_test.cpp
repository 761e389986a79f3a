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

/// Lets a unit of the run fail, with the finding of a report.
void break_unit(RunReport& run, const std::string& id) {
  Finding failure = sample_failure();
  failure.unit = unit_named(id);
  ASSERT_EQ(failure.unit.id(), id);
  RunFinding& finding = run.findings.at(id);
  finding.verdict = Verdict::falsified;
  finding.reason = failure.reason;
  finding.whole = to_json(failure);
  finding.minimal = finding.whole["minimal"];
}

class ComparisonPageTest : public testing::Test {
 protected:
  [[nodiscard]] std::string page() const {
    const Comparison comparison = compare(before_, now_);
    const std::vector<RunReport> all{before_, now_};
    return to_html({before_, now_, comparison, defaults, trend_of(all)});
  }
  [[nodiscard]] ordered_json data() const { return data_of(page()); }

  RunReport before_ = sample_run();
  RunReport now_ = sample_run();
};

TEST_F(ComparisonPageTest, WithoutItsScriptItShowsTheVerdictAndTheChanges) {
  EXPECT_TRUE(has(page(), "<title>rankcheck: not worse</title>"));
  break_unit(now_, ring);
  EXPECT_TRUE(has(page(), "<title>rankcheck: worse</title>"));
  EXPECT_TRUE(has(page(), ">Worse: 1 unit is newly broken.</h1>"));
  EXPECT_TRUE(has(page(), "rankcheck replay '{\"operation\":\"all_reduce\""));
}

TEST_F(ComparisonPageTest, CarriesTheComparison) {
  break_unit(now_, ring);
  const ordered_json carried = data();
  const std::vector<RunReport> all{before_, now_};
  const Comparison comparison = compare(before_, now_);
  ordered_json expected = to_json({before_, now_, comparison, defaults, trend_of(all)});
  EXPECT_TRUE(begins(carried["comparison"]["changes"][0]["replay"].get<std::string>(),
                     "rankcheck replay '{\"operation\":\"all_reduce\""));
  EXPECT_EQ(carried["comparison"]["before"], expected["before"]);
  EXPECT_EQ(carried["comparison"]["counts"], expected["counts"]);
  EXPECT_EQ(carried["counted"]["newly_broken"], "1 unit is newly broken");
}

TEST_F(ComparisonPageTest, FailuresHaveFindingsAndCauses) {
  break_unit(now_, ring);
  const ordered_json carried = data();
  ASSERT_EQ(carried["causes"].size(), 1U);
  const ordered_json& cause = carried["causes"][0];
  EXPECT_EQ(cause["kind"], "newly_broken");
  EXPECT_EQ(cause["is_known"], false);
  EXPECT_EQ(cause["units"], ordered_json({ring}));
  EXPECT_EQ(carried["findings"][0]["id"], ring);
  EXPECT_EQ(carried["findings"][0]["page"]["says"][0], "The contribution of rank 2 is missing.");
}

TEST_F(ComparisonPageTest, CausesOfUnitsThatPassedBeforeComeFirst) {
  for (const char* algorithm : {"a", "b", "c"}) {
    const std::string id = fmt::format("all_reduce/{}/sim/agrees_with_reference", algorithm);
    add_unit(now_, id, Verdict::passed);
    break_unit(now_, id);
    // The reason is the cause of a failure without wrong elements.
    auto& whole = now_.findings.at(id).whole;
    whole["reason"] = fmt::format("cause {}", algorithm);
    whole.erase("wrong");
    whole.erase("wrong_count");
    if (*algorithm == 'c') add_unit(before_, id, Verdict::passed);
  }
  std::string order;
  const ordered_json carried = data();
  for (const ordered_json& each : carried["causes"]) {
    order += each["units"][0].get<std::string>().substr(11, 1);
  }
  EXPECT_EQ(order, "cab");
}

TEST_F(ComparisonPageTest, KnownFailuresHaveCausesOfTheirOwn) {
  break_unit(now_, ring);
  break_unit(now_, tree);
  now_.findings.at(tree).is_known = true;
  now_.findings.at(tree).known = {{.id = "max", .covered = 1, .failed = 1}};
  const ordered_json carried = data();
  ASSERT_EQ(carried["causes"].size(), 2U);
  EXPECT_EQ(carried["causes"][0]["units"], ordered_json({ring}));
  EXPECT_EQ(carried["causes"][1]["units"], ordered_json({tree}));
  EXPECT_EQ(carried["causes"][1]["is_known"], true);
  EXPECT_EQ(carried["counted"]["newly_broken"], "1 unit is newly broken (1 more as known)");
}

TEST_F(ComparisonPageTest, AFindingOfAnotherVersionHasNoCause) {
  break_unit(now_, ring);
  RunFinding& finding = now_.findings.at(ring);
  finding.whole["minimal"]["a_field_of_tomorrow"] = 1;
  finding.minimal = finding.whole["minimal"];
  const ordered_json carried = data();
  EXPECT_TRUE(carried["causes"].empty());
  const std::string replay = carried["comparison"]["changes"][0]["replay"];
  EXPECT_TRUE(has(replay, "a_field_of_tomorrow"));
}

TEST_F(ComparisonPageTest, HasWhatEachRunChecked) {
  now_.findings.erase(other);
  now_.findings.at(ring).ranks_max = 8;
  const ordered_json expected{{"operations", "2: all_reduce, broadcast", "1: all_reduce"},
                              {"algorithms", "4", "3"},
                              // Nothing was judged on cuda.
                              {"backends", "2: mpi, sim", "2: mpi, sim"},
                              {"ranks", "not known", "up to 8"},
                              {"judged units", "5", "4"},
                              {"cases", "50", "40"},
                              {"covered cells", "6", "4"}};
  EXPECT_EQ(data()["checked"], expected);
}

TEST_F(ComparisonPageTest, CoverageNamesTheCellsThatDiffer) {
  now_.findings.at(other).cells = {"f32/sum", "ranks/3"};
  const ordered_json cells = data()["cells"];
  EXPECT_NE(std::find(cells.begin(),
                      cells.end(),
                      ordered_json({"broadcast", "sim", 2, 2, "lost int8/sum; gained ranks/3"})),
            cells.end())
      << cells;
}

TEST_F(ComparisonPageTest, ATrendHasTheVerdictsBesideKnownFailures) {
  std::vector<RunReport> all{sample_run(), sample_run(), sample_run()};
  all[1].findings.at(other).verdict = Verdict::crashed;
  const Comparison comparison = compare(all[1], all[2]);
  const std::string page = to_html({all[1], all[2], comparison, defaults, trend_of(all)});
  const ordered_json trend = data_of(page)["comparison"]["trend"];
  ASSERT_FALSE(trend.empty());
  for (const ordered_json& row : trend) EXPECT_EQ(row["beside"].size(), 3U);
}

}  // namespace
}  // namespace rankcheck::harness::compare
