#include "harness/run/run_plan.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/table.hpp"
#include "harness/run/data_files.hpp"
#include "harness/run/selection_match.hpp"
#include "harness/search/generator.hpp"
#include "harness/suite/suite_file.hpp"

namespace rankcheck::harness::run {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Builds a plan, one suite entry at a time. Opens each backend once to ask for its algorithms.
class RunPlanner {
 public:
  RunPlanner(const Selection& selection,
             const Catalogue& catalogue,
             const AvailableBackends& backends,
             const StopRequest& stop)
      : selection_(selection), catalogue_(catalogue), backends_(backends), stop_(stop) {
    for (const std::string& each : selection.backends) backends.require(each);
    require_names(selection, catalogue);
  }

  void add(const std::string& place) {
    const Suite suite = find_suite(place);
    // A suite's time limit is meant for the suite's own number of cases.
    if (!selection_.cases || suite.cycles) plan_.time_limit_s += suite.time_limit_s;
    plan_.cycles = plan_.cycles || suite.cycles;
    for (std::size_t i = 0; i < suite.entries.size(); ++i) {
      SuiteEntry entry = suite.entries[i];
      entry.backends = backends_of_entry(suite, i, selection_.backends, backends_);
      // Entries that the options leave out must not open a backend.
      if (may_select({}, catalogue_, entry) && !may_select(selection_, catalogue_, entry)) continue;
      // An entry may be empty only if the options leave out one of its backends.
      const bool is_whole = std::ranges::all_of(
          entry.backends, [&](const std::string& each) { return is_wanted(each); });
      // An installed library may lack the algorithms for several hosts, and those of a pattern.
      const bool may_be_empty =
          !entry.hosts.empty() || (entry.algorithm != "*" && is_pattern(entry.algorithm));
      if (add(entry) == 0 && is_whole && !may_be_empty) {
        throw BadInput(fmt::format(
            "suite: {}: entries[{}]: matches no check that 'rankcheck list' shows", place, i));
      }
    }
  }

  /// Returns how many units the entry selects.
  std::size_t add(SuiteEntry entry) {
    // An entry without cases leaves units out, and large calls are made as often as the suite says.
    if (selection_.cases && entry.cases > 0 && entry.count == 0) {
      // The user asked for this number of cases, which may not cover all cells.
      entry.cases = *selection_.cases;
      entry.require_all_cells = false;
    }
    if (!selection_.types.empty()) entry.types = selection_.types;
    entry.require.insert(entry.require.end(), selection_.require.begin(), selection_.require.end());
    if (!selection_.hosts.empty()) {
      entry.set_hosts(selection_.hosts);
    } else if (!selection_.ranks.empty() && entry.hosts.empty()) {
      entry.ranks_min = selection_.ranks[0];
      entry.ranks_max = selection_.ranks[1];
    }
    const int ranks_max = entry.ranks_max;
    const std::optional<int> ranks_required =
        selection_.ranks_required ? selection_.ranks_required : entry.ranks_required;
    std::size_t selected = 0;
    for (const std::string& backend : entry.backends) {
      if (!is_wanted(backend)) continue;
      entry.ranks_max = std::max(entry.ranks_min, ranks_max_of(backend, ranks_max));
      require_startable(entry, backend);
      if (const auto* algorithms = algorithms_of(backend, entry.ranks_max)) {
        note_ranks(entry, backend);
        // If the user asked for more ranks than the backend hosts, the check must not pass.
        const bool lacks_ranks = !selection_.ranks.empty() && limits_.at(backend) < entry.ranks_max;
        entry.ranks_required = lacks_ranks ? std::optional(entry.ranks_max) : ranks_required;
        selected += expand(entry, catalogue_, backend, *algorithms, plan_.units);
        // An entry may replace units of earlier entries.
        for (Unit& unit : plan_.units) {
          if (unit.backend == backend) unit.subject = subject_of(backend);
        }
      } else {
        selected += stand_in(entry, backend);
      }
    }
    return selected;
  }

  /// Whether the options select any unit so far on a backend that is not absent.
  [[nodiscard]] bool selects() const {
    return std::ranges::any_of(plan_.units, [&](const Unit& unit) {
      const bool is_absent =
          plan_.unavailable.contains(unit.backend) && !plan_.broken.contains(unit.backend);
      return !is_absent && is_selected(selection_, unit);
    });
  }

  /// Forgets everything that was added.
  void clear() {
    plan_ = {};
    ranks_within_ = ranks_beyond_ = 0;
  }

  RunPlan finish() {
    auto& units = plan_.units;
    std::erase_if(
        units, [&](const Unit& unit) { return unit.cases == 0 || !is_selected(selection_, unit); });
    if (units.empty()) fail_empty();
    require_algorithms(selection_, algorithms_, backends_, stop_, Unknown::may_match);
    if (ranks_within_ == 0 && ranks_beyond_ > 0) {
      throw BadInput(
          fmt::format("ranks: the lower limit is too large, expected at most {}, the largest "
                      "number that the backends support",
                      ranks_beyond_));
    }
    leave_out_impossible();
    add_required();
    add_pinned();
    sort_units(units);
    plan_.subjects = std::move(subjects_);
    plan_.versions = std::move(versions_);
    return std::move(plan_);
  }

 private:
  /// Returns a hint if algorithms that the user named need several hosts, and there are none.
  [[nodiscard]] std::string hint_at_hosts() const {
    std::set<std::string> names;
    for (const auto& [backend, all] : algorithms_) {
      for (const AlgorithmInfo& each : all) {
        const bool is_meant = is_wanted(backend) && fits(selection_.operations, each.operation) &&
                              fits(selection_.algorithms, each.name);
        if (is_meant && each.needs_hosts) names.insert(each.name);
      }
    }
    if (names.empty() || selection_.algorithms.empty() || !selection_.hosts.empty()) return {};
    return fmt::format("; {} needs several hosts, such as --hosts 0,0,1,1", fmt::join(names, ", "));
  }

  /// Says why nothing is selected.
  [[noreturn]] void fail_empty() const {
    require_algorithms(selection_, algorithms_, backends_, stop_, Unknown::matches_nothing);
    std::string hint = selection_.backends.empty()
                           ? "; use --backend to add backends that the suites do not have"
                           : "";
    for (const std::string& each : selection_.backends) {
      const auto known = algorithms_.find(each);
      if (subject_of(each).empty() || known == algorithms_.end() || known->second.empty()) continue;
      std::set<std::string> operations;
      for (const AlgorithmInfo& algorithm : known->second) operations.insert(algorithm.operation);
      // If it offers one of them, another filter selects nothing.
      if (std::ranges::any_of(operations, [&](const std::string& name) {
            return fits(selection_.operations, name);
          })) {
        continue;
      }
      constexpr std::size_t named_max = 8;
      hint += fmt::format(
          "; {} offers {}",
          subject_of(each),
          first_of(std::vector<std::string>(operations.begin(), operations.end()), named_max));
    }
    throw BadInput("selection: " + to_json(selection_).dump() +
                   ": selects no check, expected at least one that 'rankcheck list' shows" + hint +
                   hint_at_hosts());
  }

  bool is_wanted(const std::string& backend) const {
    return selection_.backends.empty() || contains(selection_.backends, backend);
  }

  /// Returns a backend's algorithms, or null if the backend cannot run here. Opens the backend with
  /// `ranks` ranks if it was not opened before.
  const std::vector<AlgorithmInfo>* algorithms_of(const std::string& name, int ranks) {
    if (const auto known = algorithms_.find(name); known != algorithms_.end()) {
      return &known->second;
    }
    if (plan_.unavailable.contains(name)) return nullptr;
    const NamedBackend backend = backends_.find(name);
    if (!backend.unavailable.empty()) {
      plan_.unavailable[name] = backend.unavailable;
      return nullptr;
    }
    try {
      auto& opened = opened_[name];
      opened = backends_.open(name, {.ranks_max = ranks, .stop = stop_});
      const int limit = backends_.ranks_to_start(name);
      limits_[name] = limit > 0 ? limit : opened->traits().ranks_max;
      if (backends_.find_entry(name) == nullptr) {
        note_subject(name, *opened);
      } else if (auto versions = opened->versions(); !versions.empty()) {
        versions_[name] = std::move(versions);
      }
      return &(algorithms_[name] = opened->algorithms());
    } catch (const std::runtime_error& error) {
      note_broken(name, error.what());
      return nullptr;
    }
  }

  void note_subject(const std::string& command, const Backend& opened) {
    std::set<std::string> taken(selection_.backends.begin(), selection_.backends.end());
    for (const auto& [other, subject] : subjects_) taken.insert(subject.name);
    subjects_[command] = {.name = backends_.name_of_subject(command, opened.traits().name, taken),
                          .versions = opened.versions()};
  }

  [[nodiscard]] std::string subject_of(const std::string& backend) const {
    const auto found = subjects_.find(backend);
    return found == subjects_.end() ? "" : found->second.name;
  }

  /// Notes that an available backend did not open. Throws BadInput if the user named the backend.
  /// The gate for hardware, whose selection has `devices`, reports a finding instead.
  void note_broken(const std::string& name, const std::string& why) {
    if (contains(selection_.backends, name) && !selection_.devices) {
      throw BadInput(fmt::format("backend {}: {}", name, why));
    }
    plan_.unavailable[name] = why;
    plan_.broken.insert(name);
  }

  /// Throws BadInput if an entry would start too many ranks. Must be called before any rank is
  /// started.
  void require_startable(const SuiteEntry& entry, const std::string& backend) const {
    const int limit = backends_.ranks_to_start(backend);
    if (limit > 0 && backends_.find(backend).unavailable.empty()) {
      require_ranks(backend, entry.ranks_max, limit);
    }
  }

  /// Returns an entry's most ranks on a backend. If the selection has `devices`, this is enough for
  /// one rank per device, within the backend's limit.
  int ranks_max_of(const std::string& backend, int of_entry) const {
    if (!selection_.devices || !selection_.ranks.empty()) return of_entry;
    const int devices = std::min(*selection_.devices, backends_.ranks_to_start(backend));
    const BackendEntry* entry = backends_.find_entry(backend);
    if (entry != nullptr && entry->one_rank_per_device && devices > 1) return devices;
    return std::max(of_entry, devices);
  }

  /// Notes the ranks that an entry needs of an available backend.
  void note_ranks(const SuiteEntry& entry, const std::string& backend) {
    int& started = plan_.ranks_max[backend];
    started = std::max(started, entry.ranks_max);
    const int limit = limits_.at(backend);
    int& most = entry.ranks_min > limit ? ranks_beyond_ : ranks_within_;
    most = std::max(most, limit);
  }

  /// Adds one unit for each operation that the entry would have checked on an unavailable backend.
  /// Returns how many operations these are.
  std::size_t stand_in(const SuiteEntry& entry, const std::string& backend) {
    std::size_t selected = 0;
    for (const Operation& operation : catalogue_.operations()) {
      if (!may_select(selection_, operation, entry)) continue;
      ++selected;
      Unit unit;
      unit.operation = operation.contract.name;
      unit.algorithm = "*";
      unit.backend = backend;
      unit.property = "*";
      unit.ranks_min = entry.ranks_min;
      unit.ranks_max = entry.ranks_max;
      unit.types = entry.types;
      const bool has = std::ranges::any_of(
          plan_.units, [&](const Unit& each) { return each.id() == unit.id(); });
      if (!has) plan_.units.push_back(std::move(unit));
    }
    return selected;
  }

  /// Leaves out units for which no case can be made, because their property does not apply to any
  /// case that the unit allows.
  void leave_out_impossible() {
    auto& units = plan_.units;
    std::erase_if(units, [&](const Unit& unit) {
      const Backend* backend = with_ranks_of_plan(unit.backend);
      if (backend == nullptr || Generator::has_cases(catalogue_, *backend, unit)) {
        return false;
      }
      plan_.left_out.push_back(
          fmt::format("{}/{}/{}", unit.operation, unit.algorithm, unit.property));
      return true;
    });
    // Units of unavailable backends do not count as checks.
    const bool has_checks = std::ranges::any_of(
        units, [&](const Unit& unit) { return !plan_.unavailable.contains(unit.backend); });
    if (has_checks || plan_.left_out.empty()) return;
    throw BadInput(
        fmt::format("selection: {}: no case can be generated for any of its {} checks, such as {}: "
                    "expected types and ranks that a check supports",
                    to_json(selection_).dump(),
                    plan_.left_out.size(),
                    plan_.left_out.front()));
  }

  /// Returns a backend that was opened with as many ranks as the plan asks for, because its
  /// refusals depend on the ranks. Returns null if the backend does not open.
  const Backend* with_ranks_of_plan(const std::string& name) {
    if (plan_.unavailable.contains(name)) return nullptr;
    auto& opened = opened_.at(name);
    const int ranks = plan_.ranks_max.at(name);
    if (backends_.ranks_to_start(name) == 0 || opened->traits().ranks_max == ranks)
      return opened.get();
    try {
      opened = backends_.open(name, {.ranks_max = ranks, .stop = stop_});
      return opened.get();
    } catch (const std::runtime_error& error) {
      note_broken(name, error.what());
      return nullptr;
    }
  }

  /// Adds a unit for each operation that is required and that a backend of the plan does not have.
  void add_required() {
    for (const std::string& pattern : selection_.require) require_cell(pattern);
    const std::vector<Unit> units = plan_.units;
    for (const std::string& backend : backends_of(plan_)) {
      if (selection_.require.empty() || plan_.unavailable.contains(backend)) continue;
      for (const Operation& operation : catalogue_.operations()) {
        const std::string name(operation.contract.name);
        const bool has = std::ranges::any_of(units, [&](const Unit& each) {
          return each.operation == name && each.backend == backend;
        });
        if (has || !fits(selection_.operations, name) || !is_required(operation.contract)) continue;
        Unit unit;
        unit.operation = name;
        unit.algorithm = unit.property = "*";
        unit.backend = backend;
        unit.subject = subject_of(backend);
        unit.require = selection_.require;
        plan_.not_offered.insert(unit.id());
        plan_.units.push_back(std::move(unit));
      }
    }
  }

  [[nodiscard]] bool is_required(const spec::Contract& contract) const {
    const auto& patterns = selection_.require;
    return std::ranges::any_of(
        patterns, [&](const std::string& pattern) { return has_cell(contract, pattern); });
  }

  static bool has_cell(const spec::Contract& contract, const std::string& pattern) {
    const std::vector<std::string> cells = Generator::cells_of(contract);
    return std::ranges::any_of(cells, [&](const std::string& cell) {
      return matches(pattern, std::string(contract.name) + '/' + cell);
    });
  }

  /// Throws BadInput if no operation has a cell that matches the pattern.
  void require_cell(const std::string& pattern) const {
    const auto& all = catalogue_.operations();
    const bool matches_some = std::ranges::any_of(
        all, [&](const auto& each) { return has_cell(each.contract, pattern); });
    if (matches_some) return;
    throw BadInput(
        fmt::format("--require: {}: matches no cell; cells are like all_reduce/f32/sum and "
                    "all_reduce/site/one_rank",
                    pattern));
  }

  /// Adds the pinned cases that the plan's units could have generated.
  void add_pinned() {
    std::vector<Unit> pins;
    for (const PinnedCase& pinned : pinned_cases()) {
      const std::string reason = why_invalid(catalogue_, pinned.value);
      if (!reason.empty()) throw BadInput("pinned case: " + pinned.name + ": " + reason);
      add_pinned(pinned, pins);
      for (const std::string& name : selection_.backends) {
        if (backends_.stands_for(name) != pinned.value.backend) continue;
        PinnedCase own = pinned;
        own.value.backend = name;
        for (Case& call : own.value.earlier) call.backend = name;
        add_pinned(own, pins);
      }
    }
    plan_.units.insert(plan_.units.end(), pins.begin(), pins.end());
  }

  /// Adds the pinned case as a unit if a unit of the plan could generate it.
  void add_pinned(const PinnedCase& pinned, std::vector<Unit>& pins) {
    const Case& c = pinned.value;
    const bool is_planned =
        std::ranges::any_of(plan_.units, [&](const Unit& unit) { return covers(unit, c); });
    Unit unit;
    unit.operation = c.operation;
    unit.algorithm = c.algorithm;
    unit.backend = c.backend;
    unit.subject = subject_of(c.backend);
    unit.property = c.property;
    unit.cases = 1;
    unit.pinned = pinned.name;
    unit.hosts = c.hosts;
    unit.require_all_cells = false;
    if (!is_planned || !is_selected(selection_, unit)) return;
    plan_.pinned[unit.id()] = c;
    pins.push_back(std::move(unit));
  }

  /// Whether the unit could generate the case. A case may leave the algorithm open. A unit that
  /// stands for an unavailable backend has the pattern "*" for algorithm and property.
  static bool covers(const Unit& unit, const Case& c) {
    const auto fits = [](const std::string& pattern, const std::string& text) {
      return pattern == "*" || pattern == text;
    };
    const auto& types = unit.types;
    return unit.operation == c.operation && unit.backend == c.backend &&
           (c.algorithm.empty() || fits(unit.algorithm, c.algorithm)) &&
           fits(unit.property, c.property) && c.ranks >= unit.ranks_min &&
           c.ranks <= unit.ranks_max &&
           (types.empty() || std::ranges::find(types, c.type) != types.end());
  }

  const Selection& selection_;
  const Catalogue& catalogue_;
  const AvailableBackends& backends_;
  const StopRequest& stop_;
  RunPlan plan_;
  std::map<std::string, std::unique_ptr<Backend>> opened_;
  std::map<std::string, std::vector<AlgorithmInfo>> algorithms_;
  std::map<std::string, Subject> subjects_;
  std::map<std::string, nlohmann::json> versions_;
  /// The most ranks that each backend takes.
  std::map<std::string, int> limits_;
  /// The largest rank limit among backends with an entry whose least ranks are within the limit
  /// (`ranks_within_`), or beyond the limit (`ranks_beyond_`). 0 if there is no such entry.
  int ranks_within_ = 0;
  int ranks_beyond_ = 0;
};

}  // namespace

RunPlan make_plan(Selection& selection,
                  const Catalogue& catalogue,
                  const AvailableBackends& backends,
                  const StopRequest& stop) {
  const bool names_none = selection.suites.empty();
  if (names_none) selection.suites = {"smoke"};
  RunPlanner planner(selection, catalogue, backends, stop);
  for (const std::string& suite : selection.suites) planner.add(suite);
  if (names_none && !planner.selects()) {
    selection.suites = {"all"};
    planner.clear();
    planner.add("all");
  }
  return planner.finish();
}

std::set<std::string> backends_of(const RunPlan& plan) {
  std::set<std::string> all;
  for (const Unit& unit : plan.units) all.insert(unit.backend);
  return all;
}

bool cannot_run(const RunPlan& plan, const Unit& unit) {
  return plan.unavailable.contains(unit.backend) || plan.not_offered.contains(unit.id());
}

Finding finding_without_run(const RunPlan& plan, const Unit& unit) {
  Finding finding;
  finding.unit = unit;
  if (plan.not_offered.contains(unit.id())) {
    finding.verdict = Verdict::vacuous;
    finding.reason = "required, and the backend does not have the operation";
    return finding;
  }
  const bool is_broken = plan.broken.contains(unit.backend);
  finding.verdict = is_broken ? Verdict::errored : Verdict::skipped;
  finding.reason = is_broken ? std::string(backend_not_opened) + plan.unavailable.at(unit.backend)
                             : std::string(name(SkipReason::backend_unavailable));
  return finding;
}

}  // namespace rankcheck::harness::run
