#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gpu/device/vendor_library.hpp"

#include "harness/table.hpp"

#include "cases/commands/command.hpp"
#include "cases/commands/version.hpp"

namespace {

/// One line on stderr, whatever the text holds.
int complain(std::string_view what) {
  fmt::print(stderr, "rankcheck: {}\n", rankcheck::harness::printable(what));
  return rankcheck::cases::status_unable;
}

/// Throws BadInput unless the command line begins with a command or an option.
void expect_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_name() == word || word.starts_with('-')) return;
    names.push_back(each->get_name());
  }
  throw rankcheck::harness::BadInput(
      fmt::format("command: {}: expected one of {}", word, fmt::join(names, ", ")));
}

/// Refuses what would be a value: nothing, which would silently mean the default, and nan, which is
/// outside of no CLI::Range.
void refuse_values_that_are_none(CLI::App& app) {
  const auto complain_of_nothing = [](const std::string& value) {
    return value.empty() ? std::string("expected a value, got nothing") : std::string();
  };
  const auto complain_of_nan = [](const std::string& value) {
    const bool is_nan = std::isnan(std::strtod(value.c_str(), nullptr));
    return is_nan ? "expected a number, got " + value : std::string();
  };
  std::vector<CLI::App*> commands = app.get_subcommands([](CLI::App*) { return true; });
  commands.push_back(&app);
  for (CLI::App* command : commands) {
    for (CLI::Option* option : command->get_options()) {
      const bool is_flag = option->get_items_expected_max() == 0;
      const bool is_number = option->get_type_name().starts_with("FLOAT");
      if (!is_flag) option->check(complain_of_nothing);
      if (is_number) option->check(complain_of_nan);
    }
  }
}

/// Names the files of libraries for all workers that this program starts.
void add_library_options(CLI::App& app, rankcheck::cases::Context& context) {
  for (const rankcheck::gpu::VendorLibrary& library : rankcheck::gpu::vendor_libraries) {
    app.add_option_function<std::string>(
           library.option,
           [library, &context](const std::string& path) {
             ::setenv(library.variable, path.c_str(), 1);
             // So that a printed command is about the same library.
             context.program +=
                 fmt::format(" {} {}", library.option, rankcheck::harness::shell_quoted(path));
           },
           fmt::format("The file of {}, or of a library with its interface", library.name))
        ->type_name("PATH")
        ->trigger_on_parse();
  }
}

int run(int argc, char** argv) {
  rankcheck::cases::Context context{.program = rankcheck::harness::shell_quoted(argv[0]),
                                    .arguments = {argv + 1, argv + argc}};
  CLI::App app("Verifies multi-GPU code: collectives and operators against their references.");
  app.name("rankcheck");
  app.set_version_flag("--version", rankcheck::cases::describe_build);
  app.require_subcommand(1);
  app.fallthrough();
  add_library_options(app, context);
  rankcheck::cases::add_list(app, context);
  rankcheck::cases::add_run(app, context);
  rankcheck::cases::add_replay(app, context);
  rankcheck::cases::add_export(app, context);
  rankcheck::cases::add_audit(app, context);
  rankcheck::cases::add_report(app, context);
  rankcheck::cases::add_doctor(app, context);
  rankcheck::cases::add_bench(app, context);
  rankcheck::cases::add_simulate(app, context);
  rankcheck::cases::add_reconstruct(app, context);
  expect_command(app, argc > 1 ? argv[1] : "none");
  refuse_values_that_are_none(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are "errors" of status 0.
    if (error.get_exit_code() == 0) return app.exit(error);
    return complain(fmt::format("command line: {} (see --help)", error.what()));
  }
  if (std::fflush(stdout) != 0) return complain("standard output: cannot be written");
  return context.exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}
