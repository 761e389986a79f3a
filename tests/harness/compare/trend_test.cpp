#include "harness/compare/trend.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "tests/harness/compare/sample_run.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness::compare {
namespace {

/// Three runs. The second one has a failure, and the third one lacks an algorithm.
class TrendTest : public testing::Test {
 protected:
  TrendTest() {
    runs_[1].findings.at(law).verdict = Verdict::falsified;
    runs_[1].findings.at(law).ratio_max = 8;
    runs_[2].findings.at(ring).duration_s = 4;
    runs_[2].findings.erase(tree);
  }

  [[nodiscard]] static const TrendRow& row(const Trend& trend,
                                           const std::string& operation,
                                           const std::string& tested) {
    for (const TrendRow& each : trend.rows) {
      if (each.operation == operation && each.tested == tested) return each;
    }
    throw std::out_of_range(operation);
  }

  std::vector<RunReport> runs_{sample_run(), sample_run(), sample_run()};
};

TEST_F(TrendTest, HasTheWorstOfEachOperationAndBackend) {
  const Trend trend = trend_of(runs_);
  ASSERT_EQ(trend.rows.size(), 4U);
  const TrendRow& reduce = row(trend, "all_reduce", "sim");
  ASSERT_EQ(reduce.points.size(), 3U);
  EXPECT_EQ(reduce.points[0].verdict, Verdict::passed);
  EXPECT_EQ(reduce.points[1].verdict, Verdict::falsified);
  EXPECT_EQ(reduce.points[1].failed, 1);
  EXPECT_EQ(reduce.points[1].ratio_max, 0.25) << "without the unit that failed";
  EXPECT_EQ(reduce.points[2].units, 2) << "without the algorithm that is gone";
  // Three units of 10 cases and 1 s each; at last two units, of which one took 4 s.
  EXPECT_EQ(reduce.points[0].cases_per_second, 10);
  EXPECT_EQ(reduce.points[2].cases_per_second, 4);
}

/// A known failure does not end its unit, and its error is not counted there.
TEST_F(TrendTest, TheErrorIsTheOneOfUnitsThatRanToTheirEnd) {
  EXPECT_FALSE(row(trend_of(runs_), "all_reduce", "mpi").points[0].ratio_max);
  runs_[0].findings.at(failing).is_known = true;
  EXPECT_EQ(row(trend_of(runs_), "all_reduce", "mpi").points[0].ratio_max, 0.25);
  runs_[0].findings.at(failing).may_hide_others = true;
  EXPECT_FALSE(row(trend_of(runs_), "all_reduce", "mpi").points[0].ratio_max);
}

TEST_F(TrendTest, WhatFailsOnlyAsKnownHasALetterOfItsOwn) {
  const auto letters = [&] {
    const std::string text = to_text(trend_of(runs_));
    const std::size_t at = text.find("all_reduce  mpi      ");
    return text.substr(at + std::string_view("all_reduce  mpi      ").size(), runs_.size());
  };
  EXPECT_EQ(letters(), "FFF");
  runs_[1].findings.at(failing).is_known = true;
  EXPECT_EQ(letters(), "FxF");
  EXPECT_EQ(to_json(trend_of(runs_))[1]["known"].dump(), "[0,1,0]");
  add_unit(runs_[1], "all_reduce/other/mpi/agrees_with_reference", Verdict::hung);
  EXPECT_EQ(letters(), "FHF");
}

TEST_F(TrendTest, WhatARunLacksIsEmpty) {
  runs_[1].findings.erase(other);
  const Trend trend = trend_of(runs_);
  const TrendRow& broadcast = row(trend, "broadcast", "sim");
  EXPECT_EQ(broadcast.points[0].ratio_max, 0);
  EXPECT_FALSE(broadcast.points[1].verdict);
  EXPECT_FALSE(broadcast.points[1].ratio_max);
  EXPECT_FALSE(broadcast.points[1].cases_per_second);
  const TrendRow& cuda = row(trend, "all_reduce", "cuda");
  EXPECT_EQ(cuda.points[0].verdict, Verdict::skipped);
  EXPECT_FALSE(cuda.points[0].ratio_max) << "a unit that was skipped has no error";
}

/// A measurement that only some runs have would move the mean.
TEST_F(TrendTest, TheBenchRatioIsTheMeanOfWhatAllRunsMeasured) {
  auto& now = runs_[2].bench->measurements;
  now.at(large).times = {8};
  now["large/sim/all_reduce/tree/8x64"] = {.times = {100}, .has_floor = true, .failure = ""};
  now["large/sim/broadcast/direct/8x64"] = {.times = {3}, .has_floor = true, .failure = ""};
  now["large/sim/broadcast/tree/8x64"] = {.times = {12}, .has_floor = true, .failure = ""};
  runs_[1].bench.reset();
  const Trend trend = trend_of(runs_);
  const TrendRow& reduce = row(trend, "all_reduce", "sim");
  EXPECT_DOUBLE_EQ(reduce.points[0].floor_ratio.value(), 2.1);
  EXPECT_FALSE(reduce.points[1].floor_ratio);
  EXPECT_DOUBLE_EQ(reduce.points[2].floor_ratio.value(), 8);
  EXPECT_DOUBLE_EQ(row(trend, "broadcast", "sim").points[2].floor_ratio.value(), 6)
      << "the geometric mean of 3 and 12";
}

TEST_F(TrendTest, SortsByTheTimeWhenRunsBegan) {
  runs_[0].environment["started"] = "2026-03-01T00:00:00Z";
  runs_[1].environment["started"] = "2026-01-01T00:00:00Z";
  runs_[2].environment["started"] = "2026-02-01T00:00:00Z";
  runs_[0].name = "last";
  sort_by_time(runs_);
  EXPECT_EQ(runs_.back().name, "last");
  EXPECT_TRUE(runs_.front().findings.contains(tree));
}

TEST_F(TrendTest, FailuresAreWorstAndASkipSaysLeast) {
  EXPECT_TRUE(is_worse(Verdict::flaky, Verdict::vacuous));
  EXPECT_TRUE(is_worse(Verdict::crashed, Verdict::falsified));
  EXPECT_TRUE(is_worse(Verdict::errored, Verdict::passed));
  EXPECT_TRUE(is_worse(Verdict::passed, Verdict::skipped));
  EXPECT_FALSE(is_worse(Verdict::passed, Verdict::passed));
}

TEST_F(TrendTest, ATableHasALineForEachOperationAndBackend) {
  const std::string text = to_text(trend_of(runs_));
  EXPECT_TRUE(has(text,
                  "operation   backend  verdicts  error/bound  cases/s  bench ratio\n"
                  "all_reduce  mpi      FFF       ---          ███ 10   ---\n"
                  "all_reduce  sim      pFp       ███ 0.25     ██▄ 4    ███ 2.1\n"
                  "broadcast   sim      ppp       ▁▁▁ 0        ███ 10   ---\n"));
  EXPECT_FALSE(has(text, "cuda")) << "nothing was judged there";
  runs_[2].findings.at(other).duration_s = 1e-4;
  EXPECT_TRUE(has(to_text(trend_of(runs_)), "▁▁█ 100,000"));
  runs_[2].findings.at(ring).ratio_max = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(has(to_markdown(trend_of(runs_)), "| pFp | ███ inf |"));
}

TEST_F(TrendTest, ATableForATerminalHas100Columns) {
  for (int i = 0; i < 60; ++i) runs_.push_back(sample_run());
  const std::string text = to_text(trend_of(runs_));
  EXPECT_TRUE(has(text, "over the runs, of which the latest "));
  std::size_t columns = 0;
  for (const char c : text) {
    if (c == '\n') columns = 0;
    // Bytes that continue a character are no columns.
    if ((c & 0xc0) != 0x80 && c != '\n') ++columns;
    ASSERT_LE(columns, 100U) << text;
  }
  EXPECT_EQ(to_json(trend_of(runs_))[0]["verdicts"].size(), 63U);
}

}  // namespace
}  // namespace rankcheck::harness::compare
