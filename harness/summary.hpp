#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/finding.hpp"
#include "harness/table.hpp"

namespace rankcheck::harness {

/// Findings added up.
struct Tally {
  std::int64_t findings = 0;
  /// By verdict, in the order of the enumerators.
  std::array<std::int64_t, verdict_names.size()> verdicts{};
  std::int64_t cases = 0;
  std::int64_t compared_bytes = 0;
  double ratio_max = 0;
  Power power;
  std::int64_t powerless_cases = 0;
  std::int64_t covered_cells = 0;
  /// Cells that were covered, that were required, and that the backend refuses, each once.
  std::int64_t required_cells = 0;
  std::int64_t refused_cells = 0;
  /// Reason -> findings skipped for it.
  std::map<std::string, std::int64_t> skips;

  void add(const Finding& finding);
  [[nodiscard]] std::int64_t count(Verdict verdict) const {
    return verdicts[static_cast<std::size_t>(verdict)];
  }
};

/// One row of the summary: all findings of an operation on a backend.
struct SummaryRow {
  std::string operation;
  std::string backend;
  Tally tally;
};

/// What a run comes to.
struct Summary {
  /// Sorted by operation and backend.
  std::vector<SummaryRow> rows;
  Tally total;
};

[[nodiscard]] Summary summarise(std::span<const Finding> findings);

/// The exit status of a run: 1 when anything is red; else 2 when anything is errored, or when
/// nothing was checked at all (no findings, or all of them skipped); else 0.
[[nodiscard]] int exit_status(const Tally& total);

/// The rows for people: cases, verdicts, worst error/bound, the share of elements with a useful
/// bound, and how many of all cells were covered, refused ones included.
[[nodiscard]] Table to_table(const Summary& summary);

/// Every outcome in one line, zeros included, skips with their reasons.
[[nodiscard]] std::string outcome_line(const Tally& total);

}  // namespace rankcheck::harness
