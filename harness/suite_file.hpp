#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/backend.hpp"
#include "harness/finding.hpp"
#include "harness/operation.hpp"

namespace rankcheck::harness {

/// A set of units by shell patterns, and how hard to check them.
struct SuiteEntry {
  std::string family = "*";
  std::string operation = "*";
  std::string algorithm = "*";
  std::string property = "*";
  /// Sets the entry's units apart from those of other entries, so that it does not override them.
  std::string variant;
  std::vector<std::string> backends;
  int cases = 100;
  int ranks_min = 1;
  int ranks_max = 8;
  std::vector<spec::Type> types;
  /// Whether every cell must be covered, (type, op) or site class, so that a unit that misses one
  /// is vacuous.
  bool require_all_cells = true;
  /// Patterns of "<operation>/<cell>" for cells that must be covered even where the backend refuses
  /// them.
  std::vector<std::string> require = {};
  /// The members that a judged case must have had at least, as far as `ranks_max` lets it; without
  /// a value, 2 for collectives and 1 for operators.
  std::optional<int> ranks_required = {};
};

/// A named set of checks with a budget, as read from cases/suites/<name>.json.
struct Suite {
  std::string name;
  std::string summary;
  /// Seconds for the whole run; 0: no limit.
  double time_limit_s = 0;
  /// Whether the run starts over with new seeds until its time is over.
  bool cycles = false;
  std::vector<SuiteEntry> entries;
};

/// Reads a suite. Throws BadInput that names `place`, the field and what was expected.
[[nodiscard]] Suite suite_from_text(const std::string& text, const std::string& place);

/// Whether a shell pattern (`*`, `?`, `[…]`) matches all of the text.
[[nodiscard]] bool matches(const std::string& pattern, std::string_view text);

/// Appends the entry's units on one backend that has `algorithms`. A unit that `units` has already,
/// of the same variant, takes the settings of this entry: later entries of a suite override earlier
/// ones. Returns how many units the entry selects.
std::size_t expand(const SuiteEntry& entry,
                   const Catalogue& catalogue,
                   const std::string& backend,
                   std::span<const AlgorithmInfo> algorithms,
                   std::vector<Unit>& units);

/// Sorts by operation, algorithm, backend, property; pinned cases first.
void sort_units(std::vector<Unit>& units);
/// The same order.
void sort_findings(std::vector<Finding>& findings);

}  // namespace rankcheck::harness
