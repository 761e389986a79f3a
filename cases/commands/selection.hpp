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

namespace rankcheck::cases {

/// The seed where the user gives none.
inline constexpr std::uint64_t default_seed = 1;

/// What to check, as the command line says it; what is not given is empty.
struct Selection {
  std::vector<std::string> suites;
  std::optional<std::string> operation;
  std::optional<std::string> algorithm;
  std::optional<std::string> property;
  std::vector<std::string> backends;
  /// Least and most; empty or two numbers.
  std::vector<int> ranks;
  std::vector<spec::Type> types;
  std::optional<int> cases;
  std::optional<std::uint64_t> seed;
  /// Patterns of "<operation>/<cell>" for cells that must be covered on every backend.
  std::vector<std::string> require = {};
  /// Of this machine, where each is to have a rank of its own in the suites' largest cases, as far
  /// as backends take so many and `ranks` says nothing else: the gate for hardware says so.
  std::optional<int> devices;
};

/// Only what is given: the run's identity in journals and reports.
[[nodiscard]] nlohmann::ordered_json to_json(const Selection& selection);
/// Throws BadInput that names the place.
[[nodiscard]] Selection selection_from_json(const nlohmann::json& json,
                                            const std::string& place = "selection");

/// What a selection comes to on this machine.
struct Plan {
  /// Sorted, pinned cases first.
  std::vector<harness::Unit> units;
  /// Unit id -> the pinned case.
  std::map<std::string, harness::Case> pinned;
  /// Backend -> why it cannot be used; its units stand for themselves.
  std::map<std::string, std::string> unavailable;
  /// Those of them that are there and did not open.
  std::set<std::string> broken;
  /// Ids of units that stand for operations that are required and that their backend does not have.
  std::set<std::string> not_offered = {};
  /// Units, as operation/algorithm/property, that were left out because no case of them can ever be
  /// made.
  std::vector<std::string> left_out;
  /// Backend -> the most ranks that it must be started with.
  std::map<std::string, int> ranks_max;
  double time_limit_s = 0;
  bool cycles = false;
};

/// The default seed.
void fill_defaults(Selection& selection);

/// Expands a selection. Where it names no suite, fills in smoke or, where that has nothing of what
/// is selected, all. Throws BadInput where nothing is selected that can be checked, or a backend
/// that is named cannot run here, and harness::Interrupted where `stop` is made while a backend
/// opens.
[[nodiscard]] Plan make_plan(Selection& selection,
                             const harness::Catalogue& catalogue,
                             const harness::StopRequest& stop = {});

/// The backends of a plan's units.
[[nodiscard]] std::set<std::string> backends_of(const Plan& plan);

/// Whether a unit stands for what cannot be run: its backend cannot be used, or does not have its
/// operation.
[[nodiscard]] bool cannot_run(const Plan& plan, const harness::Unit& unit);
/// What becomes of such a unit: skipped where the backend is not there, errored where it did not
/// open, vacuous where it does not have the operation.
[[nodiscard]] harness::Finding finding_without_run(const Plan& plan, const harness::Unit& unit);

}  // namespace rankcheck::cases
