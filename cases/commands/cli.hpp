#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/backend.hpp"
#include "harness/case.hpp"
#include "harness/operation.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/suite_file.hpp"

namespace CLI {
class App;
}

namespace rankcheck::cases {

/// The journal in a run's folder. All other files of the folder can be made from it again.
inline constexpr const char* journal_name = "journal.jsonl";

/// Upper limit for the bytes of cases, suites and topologies. They are small texts; a larger file
/// is something else.
inline constexpr std::size_t text_bytes_max = std::size_t{1} << 20;

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
void add_audit(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_simulate(CLI::App& app, Context& context);
void add_reconstruct(CLI::App& app, Context& context);

/// A backend with its name on the command line, which may be `command:PATH`.
struct NamedBackend {
  std::string name;
  std::string summary;
  /// Why the backend cannot run here and what to do about it. Empty if it can run.
  std::string unavailable;
  /// The algorithms that are built into a backend that cannot run here.
  std::vector<harness::AlgorithmInfo> compiled = {};
};

/// Returns the built-in backends.
[[nodiscard]] std::vector<NamedBackend> known_backends();
/// Finds a backend by its name. Throws BadInput if no backend has the name.
[[nodiscard]] NamedBackend find_backend(const std::string& name);
/// Throws BadInput if the backend is unknown or cannot run here.
void require_backend(const std::string& name);
/// Throws BadInput if the pattern matches none of the names. The message says what was to match
/// (`what`) and lists similar names.
void expect_match(std::string_view what,
                  const std::string& pattern,
                  const std::set<std::string>& names);
/// Opens a backend. Throws BadInput if it is unknown or cannot run here.
[[nodiscard]] std::unique_ptr<harness::Backend> open_backend(
    const std::string& name, const harness::BackendOptions& options);

/// Opens the backend of a case. Throws BadInput if the case is illegal or too large for this
/// machine, or if the backend is unknown, unavailable or refuses the case. Throws
/// harness::Interrupted if `stop` is made before the backend is open.
[[nodiscard]] std::unique_ptr<harness::Backend> open_for(const harness::Catalogue& catalogue,
                                                         const harness::Case& c,
                                                         const harness::StopRequest& stop);

/// Returns the folder of suites, pinned cases and topologies: share/rankcheck in the program's
/// folder or in its parent folder. In a build tree this is a link to the sources. Throws BadInput
/// if neither exists.
[[nodiscard]] std::filesystem::path data_folder();
/// Returns all suites that come with rankcheck, sorted by name.
[[nodiscard]] std::vector<harness::Suite> known_suites();
/// Whether the name of a suite is the path of its file.
[[nodiscard]] bool is_path_of_suite(const std::string& name);
/// Finds a suite by its name or by the path of its file. Throws BadInput, which lists similar
/// names.
[[nodiscard]] harness::Suite find_suite(const std::string& name);

/// A pinned case and its name. The name "all_reduce/dropped_chunk" belongs to the file
/// cases/<family>/all_reduce/pinned/dropped_chunk.json.
struct PinnedCase {
  std::string name;
  harness::Case value;
};

/// Returns all pinned cases, sorted by name. Throws BadInput that names the file. Throws FileError
/// if cases/ cannot be read, because a run must not lose its pinned cases silently.
[[nodiscard]] std::vector<PinnedCase> pinned_cases();

/// Reads a case from its JSON text or from a file. If the text names no property, uses the default
/// property, or the first one of an operation that does not claim the default. Throws BadInput and
/// FileError.
[[nodiscard]] harness::Case read_case(const harness::Catalogue& catalogue,
                                      const std::string& text_or_path);

/// Returns machine, compilers and backends for the environment object of reports.
[[nodiscard]] nlohmann::ordered_json describe_machine();
/// Returns the result of `rankcheck doctor`: the machine with its compilers and drivers, and the
/// backends. Throws harness::Interrupted if `stop` is made before all backends have answered.
[[nodiscard]] nlohmann::ordered_json examine(const harness::StopRequest& stop);

/// Returns the value of COLUMNS or else the columns of the terminal on standard output. Without
/// both, lines have no limit.
[[nodiscard]] std::size_t terminal_width();

/// Returns the time in UTC as 2026-01-31T12:00:00Z.
[[nodiscard]] std::string utc_now();

}  // namespace rankcheck::cases
