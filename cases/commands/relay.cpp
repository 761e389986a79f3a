#include "harness/worker/relay.hpp"

#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "harness/case/case.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/worker/protocol.hpp"

#include "cases/commands/cli.hpp"

namespace rankcheck::cases {

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) {
    throw harness::BadInput(std::string("relay: ") + name +
                            " is not set: the backend listen:ADDRESS starts this command");
  }
  return value;
}

}  // namespace

void add_relay(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("relay", "Connects ranks with a run, for listen:ADDRESS.");
  // Users have no use for the command, so that no help shows it.
  command->group("");
  command->callback([&context] {
    harness::worker::relay(STDIN_FILENO,
                           variable(harness::worker::socket_variable),
                           variable(harness::worker::secret_variable));
    context.exit_status = harness::run::status_held;
  });
}

}  // namespace rankcheck::cases
