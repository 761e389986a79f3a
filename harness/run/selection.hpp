#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "reference/spec/type.hpp"

namespace rankcheck::harness::run {

/// The seed if the user gives none.
inline constexpr std::uint64_t default_seed = 1;

/// What to check, according to the command line. Options that were not given are empty.
struct Selection {
  std::vector<std::string> suites;
  /// Patterns, of which one has to match.
  std::vector<std::string> operations;
  std::vector<std::string> algorithms;
  std::vector<std::string> properties;
  std::vector<std::string> backends;
  /// The least and the most ranks. Empty or two numbers.
  std::vector<int> ranks;
  /// The host of each rank, see Case::hosts. Then the number of ranks is fixed.
  std::vector<int> hosts = {};
  std::vector<spec::Type> types;
  std::optional<int> cases;
  std::optional<std::uint64_t> seed;
  /// Patterns of "<operation>/<cell>" for cells that must be covered on every backend.
  std::vector<std::string> require = {};
  /// Ids of units, or patterns of ids. Empty: all.
  std::vector<std::string> units = {};
  /// Some case of each unit must have this many members.
  std::optional<int> ranks_required = {};
  /// Number of this machine's devices; only the gate for hardware sets it. In the suites' largest
  /// cases, each device then gets a rank of its own, unless `ranks` is given or the backend takes
  /// fewer.
  std::optional<int> devices;
  /// Whether known defects that are stale make the exit status 1.
  std::optional<bool> strict_known = {};
};

/// Writes only the options that were given. Journals and reports identify the run by this object.
[[nodiscard]] nlohmann::ordered_json to_json(const Selection& selection);
/// Throws BadInput that names the place.
[[nodiscard]] Selection selection_from_json(const nlohmann::json& json,
                                            const std::string& place = "selection");

}  // namespace rankcheck::harness::run
