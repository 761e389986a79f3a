#include <string>

#include <CLI/CLI.hpp>

#include "harness/case/case.hpp"

#include "cases/commands/cli.hpp"

/// The commands `reconstruct` and `simulate` of a build without HDF5 and Cairo. They say what is
/// missing.
namespace rankcheck::cases {

namespace {

void add_absent(CLI::App& app, const std::string& name) {
  CLI::App* command = app.add_subcommand(name, "Not in this build, which has no HDF5 and Cairo.");
  // Takes any arguments, so that the reason is the only complaint.
  command->allow_extras();
  // Otherwise the program would reject the arguments itself.
  command->fallthrough(false);
  command->callback([name] {
    throw harness::BadInput(name +
                            ": this build has no HDF5 and Cairo: install libhdf5-dev and "
                            "libcairo2-dev, and build with -D RANKCHECK_RECONSTRUCT=ON");
  });
}

}  // namespace

void add_simulate(CLI::App& app, Context& /*context*/) {
  add_absent(app, "simulate");
}

void add_reconstruct(CLI::App& app, Context& /*context*/) {
  add_absent(app, "reconstruct");
}

}  // namespace rankcheck::cases
