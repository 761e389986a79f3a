#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/worker/protocol.hpp"

#include "cases/backends/command_backend.hpp"
#include "cases/backends/registry.hpp"
#include "cases/commands/listing.hpp"
#include "cases/commands/options.hpp"

namespace rankcheck::cases {

namespace {

using harness::Table;

struct ListOptions {
  harness::run::RunOptions filters;
  int ranks = 4;
  bool json = false;
  bool subjects = false;
};

void print(std::string_view title, const Table& table) {
  if (!table.empty()) fmt::print("{}\n{}", title, table.text(terminal_width()));
}

void print_operations(const Listing& listing) {
  Table operations({{"name"}, {"backend"}, {"algorithms"}});
  for (const harness::Operation& operation : listing.operations) {
    std::string name(operation.contract.name);
    for (const ListedBackend& backend : listing.backends) {
      const auto found = backend.algorithms.find(operation.contract.name);
      if (found == backend.algorithms.end()) continue;
      std::string names;
      for (const ListedAlgorithm& each : found->second) {
        names += (names.empty() ? "" : " ") + each.info.name;
      }
      operations.add({std::exchange(name, {}), backend.name, names});
    }
    if (!name.empty()) operations.add({name, "-", "-"});
  }
  print("OPERATIONS", operations);
}

/// Prints what the programs of the user take.
void print_offers(const Listing& listing) {
  for (const ListedBackend& backend : listing.backends) {
    if (backend.command.empty()) continue;
    Table table({{"operation"}, {"algorithm"}, {"takes"}});
    for (const harness::Operation& operation : listing.operations) {
      const auto found = backend.algorithms.find(operation.contract.name);
      if (found == backend.algorithms.end()) continue;
      for (const ListedAlgorithm& each : found->second) {
        table.add({each.info.operation, each.info.name, text_of_takes(each.takes)});
      }
    }
    print(fmt::format("\nOFFERED BY {}", backend.name), table);
  }
}

void print_backends(const Listing& listing) {
  Table backends({{"name"}, {"here"}, {"summary, and why it cannot run here"}});
  for (const ListedBackend& each : listing.backends) {
    const bool here = each.unavailable.empty();
    backends.add({each.name, here ? "yes" : "no", each.summary});
    if (!here) backends.add({"", "", each.unavailable});
    if (!each.command.empty()) backends.add({"", "", harness::printable(each.command)});
    if (!each.versions.empty()) backends.add({"", "", each.versions.dump()});
  }
  if (!listing.is_filtered) {
    for (const harness::run::UserPrograms& each : available_backends().programs()) {
      backends.add({each.prefix + each.placeholder, "yes", each.summary});
    }
  }
  print("\nBACKENDS", backends);
}

void print(const Listing& listing) {
  print_operations(listing);
  print_offers(listing);
  print_backends(listing);
  Table properties({{"name"}, {"summary"}});
  for (const auto& [name, summary] : properties_of(listing)) {
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
  command->footer(
      "LIST has names between commas, of which one has to match, as for run. Filters may\n"
      "be repeated.");
  const auto options = std::make_shared<ListOptions>();
  const AddOption add{*command};
  harness::run::RunOptions& filters = options->filters;
  add("--operation LIST", filters.operations, "Lists the operations that match.");
  add("--algorithm LIST", filters.algorithms, "Lists the algorithms that match.");
  add("--property LIST", filters.properties, "Lists the properties that match.");
  add("--backend LIST",
      filters.backends,
      "Lists these backends. A program of yours (command:LINE, python:FILE or listen:ADDRESS) is "
      "started and says what it offers.");
  add("--type LIST", filters.types, "Lists what takes one of these element types.");
  add("--ranks N", options->ranks, "The number of ranks that a program of yours is started with.")
      ->check(CLI::Range(1, harness::worker::world_ranks_max))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Prints JSON.");
  CLI::Option* subjects = command->add_flag(
      "--subjects", options->subjects, "Lists the ready subjects in Python instead.");
  for (CLI::Option* each : command->get_options()) {
    if (each != subjects && each->get_name() != "--help") subjects->excludes(each);
  }
  command->callback([options, &context] {
    if (options->subjects) {
      context.exit_status = list_subjects();
      return;
    }
    const harness::run::Interrupt interrupt;
    context.exit_status = interrupt.status_of("all backends were asked", [&] {
      const Listing listing = collect(options->filters, options->ranks, interrupt.stop());
      if (options->json) {
        fmt::print("{}\n", to_json(listing).dump(1));
      } else {
        print(listing);
      }
      return harness::run::status_held;
    });
  });
}

}  // namespace rankcheck::cases
