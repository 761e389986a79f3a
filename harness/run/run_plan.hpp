#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/base/stop.hpp"
#include "harness/case/case.hpp"
#include "harness/check/finding.hpp"
#include "harness/check/operation.hpp"
#include "harness/run/available_backends.hpp"
#include "harness/run/selection.hpp"

namespace rankcheck::harness::run {

/// The code under test that a command hosts.
struct Subject {
  std::string name;
  nlohmann::json versions;
};

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
  /// What commands that are backends said about themselves, by the command: the name that units
  /// have, and the versions.
  std::map<std::string, Subject> subjects = {};
  /// The versions of libraries, drivers and devices that a built-in backend named, by the backend.
  std::map<std::string, nlohmann::json> versions = {};
  /// The most ranks that each backend must be started with.
  std::map<std::string, int> ranks_max;
  double time_limit_s = 0;
  bool cycles = false;
  /// Whether a time budget is that of one session, not of the whole run.
  bool budget_of_session = false;
  /// What the environment says beside what every run says there.
  nlohmann::ordered_json environment = nlohmann::ordered_json::object();
};

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
/// Returns the finding of such a unit. It is skipped if the backend is absent, errored if the
/// backend did not open, and vacuous if the backend does not have the operation.
[[nodiscard]] Finding finding_without_run(const RunPlan& plan, const Unit& unit);

}  // namespace rankcheck::harness::run
