#include "cases/commands/selection.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "harness/fields.hpp"
#include "harness/suite_file.hpp"

#include "cases/commands/command.hpp"

namespace rankcheck::cases {

namespace {

using harness::BadInput;
using harness::SuiteEntry;
using harness::Unit;

constexpr int default_ranks_max = 8;

/// Cases of each unit where neither a suite nor an option says how many.
constexpr int default_cases = 100;

template <class Value>
void write(nlohmann::ordered_json& out, const char* name, const std::optional<Value>& value) {
  if (value) out[name] = *value;
}

template <class Value>
void read(harness::Fields& fields, const char* name, std::optional<Value>& value) {
  if (fields.find(name) == nullptr) return;
  Value given{};
  fields.required(name, given);
  value = std::move(given);
}

bool is_selected(const Selection& selection, const Unit& unit) {
  const auto fits = [](const std::optional<std::string>& pattern, const std::string& text) {
    return !pattern || text == "*" || harness::matches(*pattern, text);
  };
  const auto& backends = selection.backends;
  return fits(selection.operation, unit.operation) && fits(selection.algorithm, unit.algorithm) &&
         fits(selection.property, unit.property) &&
         (backends.empty() ||
          std::find(backends.begin(), backends.end(), unit.backend) != backends.end());
}

/// Builds a plan, an entry at a time; opens each backend once to ask for its algorithms.
class Planner {
 public:
  Planner(const Selection& selection, const harness::Catalogue& catalogue)
      : selection_(selection), catalogue_(catalogue) {
    for (const std::string& each : selection.backends) require_backend(each);
  }

  void add(const harness::Suite& suite) {
    plan_.time_limit_s += suite.time_limit_s;
    plan_.cycles = plan_.cycles || suite.cycles;
    for (const SuiteEntry& entry : suite.entries) add(entry);
  }

  void add(SuiteEntry entry) {
    if (selection_.cases) entry.cases = *selection_.cases;
    if (!selection_.types.empty()) entry.types = selection_.types;
    if (!selection_.ranks.empty()) {
      entry.ranks_min = selection_.ranks[0];
      entry.ranks_max = selection_.ranks[1];
    }
    for (const std::string& backend : entry.backends) {
      if (!is_wanted(backend)) continue;
      plan_.ranks_max = std::max(plan_.ranks_max, entry.ranks_max);
      if (const auto* algorithms = algorithms_of(backend)) {
        harness::expand(entry, catalogue_, backend, *algorithms, plan_.units);
      } else {
        stand_in(entry, backend);
      }
    }
  }

  Plan finish() {
    auto& units = plan_.units;
    std::erase_if(units, [&](const Unit& unit) { return !is_selected(selection_, unit); });
    if (units.empty()) {
      throw BadInput("selection: " + to_json(selection_).dump() +
                     ": expected at least one check that 'rankcheck list' shows");
    }
    add_pinned();
    harness::sort_units(units);
    return std::move(plan_);
  }

 private:
  bool is_wanted(const std::string& backend) const {
    const auto& named = selection_.backends;
    return named.empty() || std::find(named.begin(), named.end(), backend) != named.end();
  }

  /// Null where the backend cannot run here.
  const std::vector<harness::AlgorithmInfo>* algorithms_of(const std::string& name) {
    if (const auto known = algorithms_.find(name); known != algorithms_.end()) {
      return &known->second;
    }
    if (plan_.unavailable.contains(name)) return nullptr;
    const NamedBackend backend = find_backend(name);
    if (!backend.unavailable.empty()) {
      plan_.unavailable[name] = backend.unavailable;
      return nullptr;
    }
    return &(algorithms_[name] = open_backend(name, {})->algorithms());
  }

  /// One unit for each operation that the entry would have checked on a backend that is not there.
  void stand_in(const SuiteEntry& entry, const std::string& backend) {
    std::vector<harness::AlgorithmInfo> any;
    for (const harness::Operation& operation : catalogue_.operations()) {
      const std::string name(operation.contract.name);
      if (!harness::matches(entry.operation, name)) continue;
      Unit unit;
      unit.operation = name;
      unit.algorithm = "*";
      unit.backend = backend;
      unit.property = "*";
      const bool has = std::any_of(plan_.units.begin(), plan_.units.end(), [&](const Unit& each) {
        return each.id() == unit.id();
      });
      if (!has) plan_.units.push_back(std::move(unit));
    }
  }

  /// The pinned cases of the backends that the plan uses.
  void add_pinned() {
    std::set<std::string> used;
    for (const Unit& unit : plan_.units) used.insert(unit.backend);
    for (const PinnedCase& pinned : pinned_cases()) {
      const harness::Case& c = pinned.value;
      const std::string reason = harness::why_invalid(catalogue_, c);
      if (!reason.empty()) throw BadInput("pinned case: " + pinned.name + ": " + reason);
      Unit unit;
      unit.operation = c.operation;
      unit.algorithm = c.algorithm;
      unit.backend = c.backend;
      unit.property = c.property;
      unit.cases = 1;
      unit.pinned = pinned.name;
      unit.require_all_cells = false;
      const auto& types = selection_.types;
      const bool has_type =
          types.empty() || std::find(types.begin(), types.end(), c.type) != types.end();
      if (!used.contains(c.backend) || !has_type || !is_selected(selection_, unit)) continue;
      plan_.ranks_max = std::max(plan_.ranks_max, c.ranks);
      plan_.pinned[unit.id()] = c;
      plan_.units.push_back(std::move(unit));
    }
  }

  const Selection& selection_;
  const harness::Catalogue& catalogue_;
  Plan plan_;
  std::map<std::string, std::vector<harness::AlgorithmInfo>> algorithms_;
};

}  // namespace

nlohmann::ordered_json to_json(const Selection& selection) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  if (!selection.suites.empty()) out["suites"] = selection.suites;
  write(out, "operation", selection.operation);
  write(out, "algorithm", selection.algorithm);
  write(out, "property", selection.property);
  if (!selection.backends.empty()) out["backends"] = selection.backends;
  if (!selection.ranks.empty()) out["ranks"] = selection.ranks;
  for (const spec::Type type : selection.types) out["types"].push_back(spec::name(type));
  write(out, "cases", selection.cases);
  write(out, "seed", selection.seed);
  return out;
}

Selection selection_from_json(const nlohmann::json& json) {
  harness::Fields fields(json, "selection");
  Selection selection;
  fields.optional("suites", selection.suites);
  read(fields, "operation", selection.operation);
  read(fields, "algorithm", selection.algorithm);
  read(fields, "property", selection.property);
  fields.optional("backends", selection.backends);
  fields.optional("ranks", selection.ranks);
  fields.optional("types", selection.types);
  read(fields, "cases", selection.cases);
  read(fields, "seed", selection.seed);
  fields.reject_unknown();
  return selection;
}

void fill_defaults(Selection& selection) {
  const bool selects = selection.operation || selection.algorithm || selection.property ||
                       !selection.backends.empty();
  if (selection.suites.empty() && !selects) selection.suites = {"smoke"};
  if (!selection.seed) selection.seed = default_seed;
}

Plan make_plan(const Selection& selection, const harness::Catalogue& catalogue) {
  Planner planner(selection, catalogue);
  for (const std::string& suite : selection.suites) planner.add(find_suite(suite));
  if (selection.suites.empty()) {
    SuiteEntry everything;
    everything.backends = selection.backends;
    if (everything.backends.empty()) everything.backends = {"sim"};
    everything.cases = default_cases;
    everything.ranks_max = default_ranks_max;
    planner.add(everything);
  }
  return planner.finish();
}

}  // namespace rankcheck::cases
