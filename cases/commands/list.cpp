#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "harness/run/data_files.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/run/interrupt.hpp"
#include "harness/table.hpp"

#include "cases/backends/command_backend.hpp"
#include "cases/backends/registry.hpp"
#include "cases/commands/cli.hpp"
#include "cases/suites/catalogue.hpp"

namespace rankcheck::cases {

namespace {

using harness::Table;
using nlohmann::ordered_json;

/// The algorithms of one backend, by operation.
using Algorithms = std::map<std::string, std::vector<harness::AlgorithmInfo>>;

struct Listing {
  harness::Catalogue catalogue;
  std::vector<harness::run::NamedBackend> backends;
  /// The algorithms by the backend's name, for backends that can run here or know what is built in.
  std::map<std::string, Algorithms> algorithms;
  std::vector<harness::Suite> suites;
};

Listing collect(const harness::StopRequest& stop) {
  Listing listing{make_catalogue(), available_backends().known(), {}, harness::run::known_suites()};
  for (harness::run::NamedBackend& backend : listing.backends) {
    if (!backend.unavailable.empty()) {
      for (harness::AlgorithmInfo& each : backend.compiled) {
        listing.algorithms[backend.name][each.operation].push_back(std::move(each));
      }
      continue;
    }
    try {
      for (harness::AlgorithmInfo& each :
           available_backends().open(backend.name, {.stop = stop})->algorithms()) {
        listing.algorithms[backend.name][each.operation].push_back(std::move(each));
      }
    } catch (const std::exception& error) {
      backend.unavailable = error.what();
    }
  }
  return listing;
}

/// Returns the summary of every property that some operation claims, by its name.
std::map<std::string_view, std::string_view> properties_of(const harness::Catalogue& catalogue) {
  std::map<std::string_view, std::string_view> all;
  for (const harness::Operation& operation : catalogue.operations()) {
    for (const harness::Property& each : operation.properties) all[each.name] = each.summary;
  }
  return all;
}

ordered_json operation_to_json(const Listing& listing, const harness::Operation& operation) {
  const std::string name(operation.contract.name);
  ordered_json algorithms = ordered_json::object();
  for (const auto& [backend, all] : listing.algorithms) {
    const auto found = all.find(name);
    if (found == all.end()) continue;
    for (const harness::AlgorithmInfo& each : found->second) {
      algorithms[backend].push_back({{"name", each.name}, {"summary", each.summary}});
    }
  }
  ordered_json properties = ordered_json::array();
  for (const harness::Property& each : operation.properties) properties.push_back(each.name);
  return {
      {"name", name},
      {"summary", operation.contract.summary},
      {"formula", operation.contract.formula},
      {"source", operation.contract.source},
      {"algorithms", std::move(algorithms)},
      {"properties", std::move(properties)},
  };
}

ordered_json to_json(const Listing& listing) {
  ordered_json out;
  for (const char* key : {"operations", "backends", "properties", "suites"}) {
    out[key] = ordered_json::array();
  }
  for (const harness::Operation& operation : listing.catalogue.operations()) {
    out["operations"].push_back(operation_to_json(listing, operation));
  }
  for (const harness::run::NamedBackend& each : listing.backends) {
    ordered_json entry{
        {"name", each.name}, {"summary", each.summary}, {"available", each.unavailable.empty()}};
    if (!each.unavailable.empty()) entry["why_unavailable"] = each.unavailable;
    out["backends"].push_back(std::move(entry));
  }
  for (const auto& [name, summary] : properties_of(listing.catalogue)) {
    out["properties"].push_back({{"name", name}, {"summary", summary}});
  }
  for (const harness::Suite& each : listing.suites) {
    out["suites"].push_back({{"name", each.name}, {"summary", each.summary}});
  }
  return out;
}

void print(std::string_view title, const Table& table) {
  fmt::print("{}\n{}", title, table.text(terminal_width()));
}

void print(const Listing& listing) {
  Table operations({{"name"}, {"backend"}, {"algorithms"}});
  for (const harness::Operation& operation : listing.catalogue.operations()) {
    std::string name(operation.contract.name);
    for (const auto& [backend, all] : listing.algorithms) {
      const auto found = all.find(std::string(operation.contract.name));
      if (found == all.end()) continue;
      std::string names;
      for (const harness::AlgorithmInfo& each : found->second) {
        names += (names.empty() ? "" : " ") + each.name;
      }
      operations.add({std::exchange(name, {}), backend, names});
    }
    if (!name.empty()) operations.add({name, "-", "-"});
  }
  print("OPERATIONS", operations);

  Table backends({{"name"}, {"here"}, {"summary, and why it cannot run here"}});
  for (const harness::run::NamedBackend& each : listing.backends) {
    const bool here = each.unavailable.empty();
    backends.add({each.name, here ? "yes" : "no", each.summary});
    if (!here) backends.add({"", "", each.unavailable});
  }
  for (const harness::run::UserPrograms& each : available_backends().programs()) {
    backends.add({each.prefix + each.placeholder, "yes", each.summary});
  }
  print("\nBACKENDS", backends);

  Table properties({{"name"}, {"summary"}});
  for (const auto& [name, summary] : properties_of(listing.catalogue)) {
    properties.add({std::string(name), std::string(summary)});
  }
  print("\nPROPERTIES", properties);

  Table suites({{"name"}, {"summary"}});
  for (const harness::Suite& each : listing.suites) suites.add({each.name, each.summary});
  print("\nSUITES", suites);
}

}  // namespace

void add_list(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("list",
                                         "Lists operations, algorithms, backends (and why one is "
                                         "unavailable), properties and suites.");
  CLI::Option* json = command->add_flag("--json")->description("Prints JSON.");
  CLI::Option* subjects = command->add_flag("--subjects")
                              ->description("Lists the ready subjects in Python instead.")
                              ->excludes(json);
  command->callback([json, subjects, &context] {
    if (subjects->count() > 0) {
      context.exit_status = list_subjects();
      return;
    }
    const harness::run::Interrupt interrupt;
    context.exit_status = interrupt.status_of("all backends were asked", [&] {
      const Listing listing = collect(interrupt.stop());
      if (json->count() > 0) {
        fmt::print("{}\n", to_json(listing).dump(1));
      } else {
        print(listing);
      }
      return harness::run::status_held;
    });
  });
}

}  // namespace rankcheck::cases
