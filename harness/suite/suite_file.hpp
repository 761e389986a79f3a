#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/backend/backend.hpp"
#include "harness/check/finding.hpp"
#include "harness/check/operation.hpp"

namespace rankcheck::harness {

/// A set of units, selected by shell patterns, and how thoroughly to check them.
struct SuiteEntry {
  std::string family = "*";
  std::string operation = "*";
  std::string algorithm = "*";
  std::string property = "*";
  /// Distinguishes the entry's units from units of other entries, so that it does not override
  /// them. The units' variants also name the hosts, if there are any.
  std::string variant;
  std::vector<std::string> backends;
  /// 0 leaves out the units that earlier entries selected.
  int cases = 100;
  int ranks_min = 1;
  int ranks_max = 8;
  std::vector<spec::Type> types;
  /// Whether every cell (a type in a variant, or a call class) must be covered. If so, a unit that
  /// misses a cell is vacuous.
  bool require_all_cells = true;
  /// Patterns of "<operation>/<cell>". Matching cells must be covered even if the backend refuses
  /// them.
  std::vector<std::string> require = {};
  /// At least one judged case must have this many members. Without a value: as many as the
  /// operation's family says (Family::ranks_usual), but at most `ranks_max`.
  std::optional<int> ranks_required = {};
  /// If above 0: the count of every case, for calls that are too large for other suites.
  std::int64_t count = 0;
  /// See Unit::blocks.
  std::vector<std::int64_t> blocks = {};
  /// The host of each rank, in every case; see Case::hosts. The number of ranks is then fixed.
  std::vector<int> hosts = {};

  /// Sets `hosts` and the number of ranks.
  void set_hosts(const std::vector<int>& new_hosts);
};

/// A named set of checks with a budget, read from cases/suites/<name>.json.
struct Suite {
  std::string name;
  std::string summary;
  /// Seconds for the whole run; 0: no limit.
  double time_limit_s = 0;
  /// Whether the run starts again with new seeds until its time is over.
  bool cycles = false;
  std::vector<SuiteEntry> entries;
};

/// Reads a suite. Throws BadInput; the message names `place`, the field and what was expected.
[[nodiscard]] Suite suite_from_text(const std::string& text, const std::string& place);

/// Whether a shell pattern (`*`, `?`, `[…]`) matches the whole text.
[[nodiscard]] bool matches(const std::string& pattern, std::string_view text);

/// Whether there are no patterns, or at least one of them matches the whole text.
[[nodiscard]] bool matches_any(std::span<const std::string> patterns, std::string_view text);

/// Appends the entry's units on one backend, whose algorithms are `algorithms`. If `units` already
/// has a unit of the same variant, the unit takes this entry's settings: later entries of a suite
/// override earlier ones. Returns the number of units that the entry selects.
std::size_t expand(const SuiteEntry& entry,
                   const Catalogue& catalogue,
                   const std::string& backend,
                   std::span<const AlgorithmInfo> algorithms,
                   std::vector<Unit>& units);

/// Sorts by operation, algorithm, backend, property; pinned cases come first.
void sort_units(std::vector<Unit>& units);
/// Sorts in the same order as sort_units.
void sort_findings(std::vector<Finding>& findings);

}  // namespace rankcheck::harness
