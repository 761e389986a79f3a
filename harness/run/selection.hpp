#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/case.hpp"
#include "harness/finding.hpp"
#include "harness/operation.hpp"
#include "harness/run/available_backends.hpp"
#include "harness/stop.hpp"

namespace rankcheck::harness::run {

/// The seed if the user gives none.
inline constexpr std::uint64_t default_seed = 1;

/// What to check, according to the command line. Options that were not given are empty.
struct Selection {
  std::vector<std::string> suites;
  std::optional<std::string> operation;
  std::optional<std::string> algorithm;
  std::optional<std::string> property;
  std::vector<std::string> backends;
  /// The least and the most ranks. Empty or two numbers.
  std::vector<int> ranks;
  std::vector<spec::Type> types;
  std::optional<int> cases;
  std::optional<std::uint64_t> seed;
  /// Patterns of "<operation>/<cell>" for cells that must be covered on every backend.
  std::vector<std::string> require = {};
  /// Number of this machine's devices; only the gate for hardware sets it. In the suites' largest
  /// cases, each device then gets a rank of its own, unless `ranks` is given or the backend takes
  /// fewer.
  std::optional<int> devices;
};

/// Writes only the options that were given. Journals and reports identify the run by this object.
[[nodiscard]] nlohmann::ordered_json to_json(const Selection& selection);
/// Throws BadInput that names the place.
[[nodiscard]] Selection selection_from_json(const nlohmann::json& json,
                                            const std::string& place = "selection");

/// The checks that a selection gives on this machine.
struct RunPlan {
  /// Sorted, pinned cases first.
  std::vector<Unit> units;
  /// The pinned cases by unit id.
  std::map<std::string, Case> pinned;
  /// Unavailable backends, and why they cannot be used. Their units remain in the plan and get
  /// findings without a run.
  std::map<std::string, std::string> unavailable;
  /// The unavailable backends that should work here but did not open.
  std::set<std::string> broken;
  /// Ids of units for required operations that their backend does not have.
  std::set<std::string> not_offered = {};
  /// Units, as operation/algorithm/property, that were left out because no case can be made of
  /// them.
  std::vector<std::string> left_out;
  /// The most ranks that each backend must be started with.
  std::map<std::string, int> ranks_max;
  double time_limit_s = 0;
  bool cycles = false;
};

/// Sets the default seed if none is given.
void fill_defaults(Selection& selection);

/// Expands a selection. If it names no suite, fills in `smoke`, or `all` if smoke contains nothing
/// of the selection. Throws BadInput if nothing is selected that can be checked, or if a named
/// backend cannot run here. Throws Interrupted if `stop` is made while a backend opens.
[[nodiscard]] RunPlan make_plan(Selection& selection,
                                const Catalogue& catalogue,
                                const AvailableBackends& backends,
                                const StopRequest& stop = {});

/// Returns the backends of a plan's units.
[[nodiscard]] std::set<std::string> backends_of(const RunPlan& plan);

/// Whether a unit cannot run: its backend is unavailable, or does not have its operation.
[[nodiscard]] bool cannot_run(const RunPlan& plan, const Unit& unit);
/// Returns the finding of such a unit: skipped if the backend is absent, errored if it did not
/// open, vacuous if it does not have the operation.
[[nodiscard]] Finding finding_without_run(const RunPlan& plan, const Unit& unit);

}  // namespace rankcheck::harness::run
