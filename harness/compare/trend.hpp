#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/case/verdict.hpp"
#include "harness/compare/run_report.hpp"

namespace rankcheck::harness::compare {

/// What one run says of an operation on a backend.
struct TrendPoint {
  /// The worst verdict of the units. Empty if the run has none of them.
  std::optional<Verdict> verdict = {};
  /// Number of units, and how many of them failed.
  std::int64_t units = 0;
  std::int64_t failed = 0;
  /// How many of these failed only as known.
  std::int64_t known = 0;
  /// The worst verdict of the other units, those that did not fail only as known.
  std::optional<Verdict> verdict_beside_known = {};
  /// The largest error/bound of the units that ran to their end, see is_whole(). Empty if there are
  /// none.
  std::optional<double> ratio_max = {};
  /// Cases per second of the units whose duration is known. Empty if there are none.
  std::optional<double> cases_per_second = {};
  /// The geometric mean of the measurements' multiples of the floor, over those measurements that
  /// all runs with measurements of this operation and backend have. Empty if there are none.
  std::optional<double> floor_ratio = {};

  /// Whether units failed, and all of them only as known, while nothing else went wrong.
  [[nodiscard]] bool fails_only_as_known() const;
};

/// An operation on a backend over all runs.
struct TrendRow {
  std::string operation;
  std::string tested;
  /// One for each run.
  std::vector<TrendPoint> points;
};

/// What became of every operation and backend over many runs.
struct Trend {
  /// In the order of the points. The reports must outlive this.
  std::vector<const RunReport*> runs;
  /// Sorted by operation and backend.
  std::vector<TrendRow> rows;
};

/// Sorts reports by the time when their runs began. Reports with one time keep their order.
void sort_by_time(std::vector<RunReport>& runs);

[[nodiscard]] Trend trend_of(std::span<const RunReport> runs);

/// Orders verdicts by how bad they are: failures first, then what was not judged, then passed.
[[nodiscard]] bool is_worse(Verdict a, Verdict b);

/// For terminals: a table with a line for each operation and backend that some run judged or
/// measured. Each cell has a sign for each run. If there are too many runs for 100 columns, only
/// the latest are shown.
[[nodiscard]] std::string to_text(const Trend& trend);

/// The same as Markdown, with all runs.
[[nodiscard]] std::string to_markdown(const Trend& trend);

/// All rows, with a list for each quantity. A run that lacks the quantity has null there.
[[nodiscard]] nlohmann::ordered_json to_json(const Trend& trend);

}  // namespace rankcheck::harness::compare
