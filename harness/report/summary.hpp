#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "harness/base/table.hpp"
#include "harness/check/finding.hpp"

namespace rankcheck::harness {

/// Sums over findings.
struct Tally {
  std::int64_t findings = 0;
  /// Counts by verdict, in the order of the enumerators.
  std::array<std::int64_t, verdict_names.size()> verdicts{};
  /// How many of these have only known failures. They do not make the exit status 1.
  std::array<std::int64_t, verdict_names.size()> known{};
  std::int64_t cases = 0;
  std::int64_t compared_bytes = 0;
  /// The largest error/bound of right elements in all findings.
  double ratio_max = 0;
  Power power;
  std::int64_t powerless_cases = 0;
  std::int64_t covered_cells = 0;
  /// Number of cells that were covered, missing, refused or known, each counted once.
  std::int64_t required_cells = 0;
  std::int64_t refused_cells = 0;
  /// Number of cells that only known failures reached. They are among `required_cells`.
  std::int64_t known_cells = 0;
  /// Number of skipped findings by reason.
  std::map<std::string, std::int64_t> skips;
  /// Number of skipped findings by what the backend said.
  std::map<std::string, std::int64_t> refusals;

  void add(const Finding& finding);
  [[nodiscard]] std::int64_t count(Verdict verdict) const {
    return verdicts[spec::to_size(verdict)];
  }
  /// Number of findings that make the exit status 1.
  [[nodiscard]] std::int64_t red(Verdict verdict) const {
    return is_red(verdict) ? count(verdict) - known[spec::to_size(verdict)] : 0;
  }
  [[nodiscard]] std::int64_t known_findings() const {
    return std::accumulate(known.begin(), known.end(), std::int64_t{0});
  }
};

/// One row of the summary: all findings of an operation on a backend.
struct SummaryRow {
  std::string operation;
  std::string backend;
  Tally tally;
};

/// The summary of a run.
struct Summary {
  /// Sorted by operation and backend.
  std::vector<SummaryRow> rows;
  Tally total;
};

[[nodiscard]] Summary summarise(std::span<const Finding> findings);

/// Why the backends took no case of skipped units, the most frequent reason first: "57 units were
/// skipped: algorithm: ...". At most `most` sentences; one more says how many reasons are left out.
[[nodiscard]] std::vector<std::string> refusal_sentences(const Tally& tally, std::size_t most);

/// The exit status of a run: 1 if any finding is red. Otherwise 2 if any finding is errored or
/// skipped because the time was over, or if nothing was checked (no findings, or all skipped).
/// Otherwise 0.
[[nodiscard]] int exit_status(const Tally& total);

/// The rows for people: cases, compared bytes, worst error/bound, power, cells and verdicts. Power
/// is the share of elements with a useful bound. Cells are the covered ones among all, including
/// refused cells.
[[nodiscard]] Table to_table(const Summary& summary);

/// Fewer columns, for a terminal of 100 columns. Cells are the covered ones among those that the
/// backend offers.
[[nodiscard]] Table to_narrow_table(const Summary& summary);

/// The verdicts that occurred on one line, with their counts and the reasons for skips.
[[nodiscard]] std::string outcome_line(const Tally& total);
/// "exact" or the largest error/bound of right elements. "-" if there is none to tell.
[[nodiscard]] std::string error_of(const Tally& tally);

}  // namespace rankcheck::harness
