#include "harness/run/selection_match.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "harness/run/option_values.hpp"

namespace rankcheck::harness::run {

namespace {

/// Whether the selection names no units, or a pattern of its units is or matches the id.
bool names_unit(const Selection& selection, const std::string& id) {
  const auto& units = selection.units;
  return matches_any(units, id) || std::ranges::find(units, id) != units.end();
}

/// The names of algorithms, and whether those of some backend are unknown.
struct AlgorithmNames {
  std::set<std::string> names;
  bool lacks_some = false;

  void add(const std::vector<AlgorithmInfo>& infos) {
    for (const AlgorithmInfo& each : infos) names.insert(each.name);
  }
  [[nodiscard]] bool matches_one(const std::string& pattern) const {
    return std::ranges::any_of(names, [&](const auto& each) { return matches(pattern, each); });
  }
};

/// Adds the algorithms of a backend, which it opens if it can run here.
void add_algorithms(const BackendEntry& entry,
                    const AvailableBackends& backends,
                    const StopRequest& stop,
                    AlgorithmNames& out) {
  try {
    if (entry.why_unavailable().empty())
      return out.add(backends.open(entry.name, {.stop = stop})->algorithms());
    if (entry.compiled != nullptr) return out.add(entry.compiled());
  } catch (const std::runtime_error&) {
    // What a broken backend has is unknown.
  }
  out.lacks_some = true;
}

}  // namespace

bool fits(const std::vector<std::string>& patterns, const std::string& text) {
  return text == "*" || matches_any(patterns, text);
}

bool is_pattern(const std::string& text) {
  return text.find_first_of("*?[") != std::string::npos;
}

bool may_select(const Selection& selection, const Operation& operation, const SuiteEntry& entry) {
  if (!is_pattern(entry.algorithm) && !fits(selection.algorithms, entry.algorithm)) return false;
  const std::string name(operation.contract.name);
  const auto& properties = operation.properties;
  return matches(entry.family, family(operation.contract)) && matches(entry.operation, name) &&
         fits(selection.operations, name) &&
         std::ranges::any_of(properties, [&](const Property& each) {
           return matches(entry.property, each.name) &&
                  fits(selection.properties, std::string(each.name));
         });
}

bool may_select(const Selection& selection, const Catalogue& catalogue, const SuiteEntry& entry) {
  if (!entry.hosts.empty()) {
    const auto& ranks = selection.ranks;
    const bool has_ranks =
        ranks.empty() || (ranks[0] <= entry.ranks_min && entry.ranks_max <= ranks[1]);
    // Other entries give the cases the selection's hosts.
    if (!has_ranks || !selection.hosts.empty()) return false;
  }
  const auto& all = catalogue.operations();
  return std::ranges::any_of(
      all, [&](const Operation& operation) { return may_select(selection, operation, entry); });
}

bool is_selected(const Selection& selection, const Unit& unit) {
  const auto& backends = selection.backends;
  return names_unit(selection, unit.id()) && fits(selection.operations, unit.operation) &&
         fits(selection.algorithms, unit.algorithm) && fits(selection.properties, unit.property) &&
         (backends.empty() || std::ranges::find(backends, unit.backend) != backends.end());
}

std::vector<std::string> backends_of_entry(const Suite& suite,
                                           std::size_t index,
                                           const std::vector<std::string>& named,
                                           const AvailableBackends& backends) {
  const auto means = [&](const SuiteEntry& entry, const std::string& backend) {
    return std::ranges::any_of(entry.backends, [&](const std::string& each) {
      return each == backend || each == backends.stands_for(backend);
    });
  };
  const SuiteEntry& entry = suite.entries[index];
  const bool is_for_unmentioned = std::ranges::any_of(entry.backends, [&](const std::string& each) {
    const BackendEntry* backend = backends.find_entry(each);
    return backend != nullptr && backend->stands_for_unmentioned;
  });
  std::vector<std::string> all = entry.backends;
  for (const std::string& each : named) {
    const bool is_mentioned = std::ranges::any_of(
        suite.entries, [&](const SuiteEntry& other) { return means(other, each); });
    const bool is_meant = is_mentioned ? means(entry, each) : is_for_unmentioned;
    if (is_meant && std::ranges::find(all, each) == all.end()) all.push_back(each);
  }
  return all;
}

void require_names(const Selection& selection, const Catalogue& catalogue) {
  std::set<std::string> operations;
  std::set<std::string> properties;
  for (const Operation& operation : catalogue.operations()) {
    operations.emplace(operation.contract.name);
    for (const Property& each : operation.properties) properties.emplace(each.name);
  }
  require_matches("operation", selection.operations, operations);
  require_matches("property", selection.properties, properties);
}

void require_algorithms(const Selection& selection,
                        const std::map<std::string, std::vector<AlgorithmInfo>>& opened,
                        const AvailableBackends& backends,
                        const StopRequest& stop,
                        Unknown unknown) {
  AlgorithmNames all;
  for (const auto& [backend, infos] : opened) all.add(infos);
  const auto& patterns = selection.algorithms;
  const bool all_match =
      std::ranges::all_of(patterns, [&](const auto& each) { return all.matches_one(each); });
  if (all_match) return;
  for (const BackendEntry& each : backends.entries()) {
    if (!opened.contains(each.name)) add_algorithms(each, backends, stop, all);
  }
  if (all.lacks_some && unknown == Unknown::may_match) return;
  require_matches("algorithm", patterns, all.names);
}

}  // namespace rankcheck::harness::run
