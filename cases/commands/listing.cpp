#include "cases/commands/listing.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "harness/backend/capabilities.hpp"
#include "harness/case/family.hpp"
#include "harness/run/data_files.hpp"
#include "harness/run/selection_match.hpp"

#include "cases/backends/registry.hpp"
#include "cases/suites/catalogue.hpp"

namespace rankcheck::cases {

namespace {

using harness::BadInput;
using harness::run::fits;
using harness::run::Selection;
using nlohmann::json;
using nlohmann::ordered_json;

/// Whether a declaration, or all cells of an operation if there is none, has one of the types.
bool has_type(const harness::Operation& operation,
              const json& takes,
              const std::vector<spec::Type>& types) {
  if (types.empty()) return true;
  const spec::Contract& contract = operation.contract;
  const std::vector<harness::Cell> cells = harness::family_of(contract).cells(contract);
  const json declared = takes.is_null() ? json("any") : takes.value("type", json::array({"f32"}));
  return std::any_of(types.begin(), types.end(), [&](spec::Type type) {
    const bool is_taken =
        declared == "any" ||
        std::find(declared.begin(), declared.end(), spec::name(type)) != declared.end();
    return is_taken && std::any_of(cells.begin(), cells.end(), [&](const harness::Cell& cell) {
             return cell.type == type;
           });
  });
}

void add_algorithms(const harness::Backend& opened, ListedBackend& backend) {
  for (const harness::AlgorithmInfo& each : opened.algorithms()) {
    const harness::Capabilities* takes = opened.capabilities(each.operation, each.name);
    std::vector<ListedAlgorithm>& all = backend.algorithms[each.operation];
    all.push_back({.info = each, .takes = takes == nullptr ? json() : takes->declared()});
  }
}

/// Asks a built-in backend. If it cannot be opened, the reason is noted.
ListedBackend ask(harness::run::NamedBackend backend, const harness::StopRequest& stop) {
  ListedBackend listed{.name = backend.name,
                       .summary = std::move(backend.summary),
                       .unavailable = std::move(backend.unavailable)};
  for (harness::AlgorithmInfo& each : backend.compiled) {
    listed.algorithms[each.operation].push_back({.info = each});
  }
  if (!listed.unavailable.empty()) return listed;
  try {
    add_algorithms(*available_backends().open(backend.name, {.stop = stop}), listed);
  } catch (const std::exception& error) {
    listed.unavailable = error.what();
  }
  return listed;
}

/// Starts a program of the user and asks it.
ListedBackend ask_program(const std::string& command,
                          const std::set<std::string>& taken,
                          const harness::BackendOptions& options) {
  try {
    const auto opened = available_backends().open(command, options);
    ListedBackend listed{
        .name = available_backends().name_of_subject(command, opened->traits().name, taken),
        .command = command,
        .summary = available_backends().find(command).summary,
        .versions = opened->versions()};
    add_algorithms(*opened, listed);
    if (const auto failure = opened->close()) throw std::runtime_error(failure->reason);
    return listed;
  } catch (const BadInput&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw BadInput(fmt::format("backend {}: {}", command, error.what()));
  }
}

std::vector<ListedBackend> ask_all(const std::vector<std::string>& named,
                                   int ranks,
                                   const harness::StopRequest& stop) {
  std::vector<ListedBackend> all;
  // Unknown names are complained about before anything is started.
  for (const std::string& each : named) static_cast<void>(available_backends().find(each));
  for (harness::run::NamedBackend& each : available_backends().known()) {
    const bool is_named = std::find(named.begin(), named.end(), each.name) != named.end();
    if (named.empty() || is_named) all.push_back(ask(std::move(each), stop));
  }
  std::set<std::string> taken;
  for (const std::string& each : named) {
    if (available_backends().find_entry(each) != nullptr) continue;
    all.push_back(ask_program(each, taken, {.ranks_max = ranks, .stop = stop}));
    taken.insert(all.back().name);
  }
  return all;
}

/// Throws BadInput for a pattern that matches no algorithm of the listed backends.
void require_listed_algorithms(const Selection& selection,
                               const std::vector<ListedBackend>& backends) {
  std::map<std::string, std::vector<harness::AlgorithmInfo>> opened;
  for (const ListedBackend& backend : backends) {
    for (const auto& [operation, all] : backend.algorithms) {
      for (const ListedAlgorithm& each : all) opened[backend.name].push_back(each.info);
    }
  }
  require_algorithms(
      selection, opened, available_backends(), {}, harness::run::Unknown::matches_nothing);
}

/// Removes the algorithms that do not fit.
void narrow(const Selection& selection,
            const harness::Operation& operation,
            ListedBackend& backend) {
  const auto found = backend.algorithms.find(operation.contract.name);
  if (found == backend.algorithms.end()) return;
  std::erase_if(found->second, [&](const ListedAlgorithm& each) {
    return !fits(selection.algorithms, each.info.name) ||
           !has_type(operation, each.takes, selection.types);
  });
  if (found->second.empty()) backend.algorithms.erase(found);
}

bool is_offered(const std::vector<ListedBackend>& backends, const harness::Operation& operation) {
  return std::any_of(backends.begin(), backends.end(), [&](const ListedBackend& each) {
    return each.algorithms.contains(operation.contract.name);
  });
}

/// Whether a run of the suite with these options checks anything.
bool may_check(const Selection& selection,
               const harness::Catalogue& catalogue,
               const harness::Suite& suite) {
  const std::vector<std::string>& named = selection.backends;
  for (std::size_t i = 0; i < suite.entries.size(); ++i) {
    if (!may_select(selection, catalogue, suite.entries[i])) continue;
    const auto backends = harness::run::backends_of_entry(suite, i, named, available_backends());
    if (std::any_of(backends.begin(), backends.end(), [&](const std::string& each) {
          return named.empty() || std::find(named.begin(), named.end(), each) != named.end();
        })) {
      return true;
    }
  }
  return false;
}

ordered_json algorithm_to_json(const ListedAlgorithm& algorithm) {
  ordered_json out{{"name", algorithm.info.name}, {"summary", algorithm.info.summary}};
  if (!algorithm.takes.is_null()) out["takes"] = algorithm.takes;
  return out;
}

ordered_json operation_to_json(const Listing& listing, const harness::Operation& operation) {
  ordered_json algorithms = ordered_json::object();
  for (const ListedBackend& backend : listing.backends) {
    const auto found = backend.algorithms.find(operation.contract.name);
    if (found == backend.algorithms.end()) continue;
    for (const ListedAlgorithm& each : found->second) {
      algorithms[backend.name].push_back(algorithm_to_json(each));
    }
  }
  ordered_json properties = ordered_json::array();
  for (const harness::Property& each : operation.properties) properties.push_back(each.name);
  return {
      {"name", operation.contract.name},
      {"summary", operation.contract.summary},
      {"formula", operation.contract.formula},
      {"source", operation.contract.source},
      {"algorithms", std::move(algorithms)},
      {"properties", std::move(properties)},
  };
}

ordered_json backend_to_json(const ListedBackend& backend) {
  ordered_json out{{"name", backend.name},
                   {"summary", backend.summary},
                   {"available", backend.unavailable.empty()}};
  if (!backend.unavailable.empty()) out["why_unavailable"] = backend.unavailable;
  if (!backend.command.empty()) {
    out["command"] = backend.command;
    out["versions"] = backend.versions;
  }
  return out;
}

/// One field of a declaration, for people.
std::string text_of_field(const std::string& field, const json& value) {
  if (field == "empty") return value == false ? "no empty parts" : "empty parts";
  std::string text = field;
  const auto add = [&](const json& each) {
    text += ' ' + (each.is_string() ? each.get<std::string>() : each.dump());
  };
  if (field == "ranks" && value.is_object()) {
    const bool has_max = value.contains("max");
    return fmt::format("ranks {}{}",
                       value.value("min", 1),
                       has_max ? fmt::format("..{}", value.value("max", 0)) : " or more");
  }
  if (!value.is_array()) {
    add(value);
  } else {
    std::for_each(value.begin(), value.end(), add);
  }
  return text;
}

}  // namespace

Listing collect(const harness::run::RunOptions& options,
                int ranks,
                const harness::StopRequest& stop) {
  const Selection selection = parse_selection(options);
  const harness::Catalogue catalogue = make_catalogue();
  require_names(selection, catalogue);
  Listing listing{.operations = catalogue.operations(),
                  .backends = ask_all(selection.backends, ranks, stop),
                  .suites = harness::run::known_suites()};
  require_listed_algorithms(selection, listing.backends);
  listing.is_filtered = !to_json(selection).empty();
  for (const harness::Operation& each : listing.operations) {
    for (ListedBackend& backend : listing.backends) narrow(selection, each, backend);
  }
  const bool needs_algorithm = !selection.backends.empty() || !selection.algorithms.empty();
  for (harness::Operation& each : listing.operations) {
    std::erase_if(each.properties, [&](const harness::Property& property) {
      return !fits(selection.properties, std::string(property.name));
    });
  }
  std::erase_if(listing.operations, [&](const harness::Operation& each) {
    return each.properties.empty() ||
           !fits(selection.operations, std::string(each.contract.name)) ||
           !has_type(each, {}, selection.types) ||
           (needs_algorithm && !is_offered(listing.backends, each));
  });
  if (listing.operations.empty()) {
    throw BadInput(fmt::format("filters: no operation fits all of {}", to_json(selection).dump()));
  }
  std::erase_if(listing.suites, [&](const harness::Suite& suite) {
    return !may_check(selection, catalogue, suite);
  });
  return listing;
}

std::map<std::string_view, std::string_view> properties_of(const Listing& listing) {
  std::map<std::string_view, std::string_view> all;
  for (const harness::Operation& operation : listing.operations) {
    for (const harness::Property& each : operation.properties) all[each.name] = each.summary;
  }
  return all;
}

ordered_json to_json(const Listing& listing) {
  ordered_json out;
  for (const char* key : {"operations", "backends", "properties", "suites"}) {
    out[key] = ordered_json::array();
  }
  for (const harness::Operation& operation : listing.operations) {
    out["operations"].push_back(operation_to_json(listing, operation));
  }
  for (const ListedBackend& each : listing.backends) {
    out["backends"].push_back(backend_to_json(each));
  }
  for (const auto& [name, summary] : properties_of(listing)) {
    out["properties"].push_back({{"name", name}, {"summary", summary}});
  }
  for (const harness::Suite& each : listing.suites) {
    out["suites"].push_back({{"name", each.name}, {"summary", each.summary}});
  }
  return out;
}

std::string text_of_takes(const json& takes) {
  if (takes.is_null()) return "not declared: it is asked about each case";
  // The most important fields first. What is not declared has its default.
  const json defaults{{"type", {"f32"}}, {"ranks", json::object()}, {"group", "world"}};
  std::string text;
  const auto add = [&](const std::string& field, const json& value) {
    text += (text.empty() ? "" : "; ") + text_of_field(field, value);
  };
  constexpr std::array<std::string_view, 4> first{"type", "op", "ranks", "group"};
  for (const std::string_view field : first) {
    const std::string name(field);
    if (takes.contains(name)) {
      add(name, takes.at(name));
    } else if (defaults.contains(name)) {
      add(name, defaults.at(name));
    }
  }
  for (const auto& [field, value] : takes.items()) {
    if (std::find(first.begin(), first.end(), field) == first.end()) add(field, value);
  }
  return text;
}

}  // namespace rankcheck::cases
