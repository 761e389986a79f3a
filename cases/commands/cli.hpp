#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/backend/backend.hpp"
#include "harness/case/case.hpp"
#include "harness/check/operation.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/run/this_program.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace rankcheck::cases {

/// The input of every subcommand, and the exit status that it sets.
struct Context {
  /// How the user called this program in a shell, so that printed commands work when pasted.
  std::string program;
  /// The user's arguments; the first one is the subcommand.
  std::vector<std::string> arguments = {};
  int exit_status = harness::run::status_held;
};

/// Each function adds one subcommand whose callback does the work. Callbacks throw BadInput and
/// FileError.
void add_list(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_replay(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_evaluate(CLI::App& app, Context& context);
void add_relay(CLI::App& app, Context& context);
void add_check_worker(CLI::App& app, Context& context);
void add_audit(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_simulate(CLI::App& app, Context& context);
void add_reconstruct(CLI::App& app, Context& context);
void add_import_trace(CLI::App& app, Context& context);

/// Opens the backend of a case. Throws BadInput if the case is illegal or too large for this
/// machine, or if the backend is unknown, unavailable or refuses the case. Throws
/// harness::Interrupted if `stop` is made before the backend is open.
[[nodiscard]] std::unique_ptr<harness::Backend> open_for(
    const harness::Catalogue& catalogue,
    const harness::Case& c,
    const harness::StopRequest& stop,
    double timeout_s = harness::BackendOptions().timeout_s);

/// Reads a case from its JSON text or from a file. If the text names no property, uses the default
/// property, or the first one of an operation that does not claim the default. Throws BadInput and
/// FileError.
[[nodiscard]] harness::Case read_case(const harness::Catalogue& catalogue,
                                      const std::string& text_or_path);

/// Prints a verdict and its reason, which may be empty, as a line for people.
void print_verdict(harness::Verdict verdict, const std::string& reason);
/// Prints how much was compared, how far the values were off, the power of the check, and the wrong
/// elements.
void print_compared(const harness::Judgement& judgement);

/// Returns machine, compilers and backends for the environment object of reports.
[[nodiscard]] nlohmann::ordered_json describe_machine();
/// Returns the result of `rankcheck doctor`: the machine with its compilers and drivers, and the
/// backends, or the one that `only` names, which takes less time. Throws harness::Interrupted if
/// `stop` is made before they have answered.
[[nodiscard]] nlohmann::ordered_json examine(const harness::StopRequest& stop,
                                             const std::string& only = {});

/// Returns what a run must know of this program. `command` is how the user called it.
[[nodiscard]] harness::run::ThisProgram this_program(std::string command);

/// Returns the value of COLUMNS or else the columns of the terminal on standard output. Without
/// both, lines have no limit.
[[nodiscard]] std::size_t terminal_width();

}  // namespace rankcheck::cases
