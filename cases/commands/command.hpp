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
#include "harness/suite_file.hpp"

namespace CLI {
class App;
}

namespace rankcheck::cases {

/// Nothing was red: everything that was required held.
inline constexpr int status_held = 0;
/// Something was falsified, flaky, hung, crashed or vacuous.
inline constexpr int status_failed = 1;
/// Could not run: bad arguments, unreadable files, a missing backend that was named.
inline constexpr int status_unable = 2;

/// The file of a run's folder that everything else can be made from again.
inline constexpr const char* journal_name = "journal.jsonl";

/// Cases, suites and topologies are small texts; a larger file is something else.
inline constexpr std::size_t text_bytes_max = std::size_t{1} << 20;

/// What every subcommand works with, and the exit status that it leaves.
struct Context {
  /// How the user called this program in a shell, so that printed commands work as pasted.
  std::string program;
  /// What the user gave it, the subcommand first.
  std::vector<std::string> arguments = {};
  int exit_status = status_held;
};

/// Each adds one subcommand whose callback does the work. Callbacks throw BadInput and FileError.
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

/// A backend by its name on the command line, `command:PATH` included.
struct NamedBackend {
  std::string name;
  std::string summary;
  /// Why it cannot run here and what would mend it; empty where it can.
  std::string unavailable;
  /// What is built into one that cannot run here.
  std::vector<harness::AlgorithmInfo> compiled = {};
};

/// The backends that rankcheck brings.
[[nodiscard]] std::vector<NamedBackend> known_backends();
/// Throws BadInput for a name that no backend has.
[[nodiscard]] NamedBackend find_backend(const std::string& name);
/// Throws BadInput where the backend is unknown or cannot run here.
void require_backend(const std::string& name);
/// Throws BadInput where the pattern matches none of the names of `what`, and tells close ones.
void expect_match(std::string_view what,
                  const std::string& pattern,
                  const std::set<std::string>& names);
/// Opens a backend that can run here.
[[nodiscard]] std::unique_ptr<harness::Backend> open_backend(
    const std::string& name, const harness::BackendOptions& options);

/// Opens the backend of a case. Throws BadInput where the case is illegal or too large for this
/// machine, or the backend unknown, absent or not able to take it, and harness::Interrupted where
/// `stop` is made before it is open.
[[nodiscard]] std::unique_ptr<harness::Backend> open_for(const harness::Catalogue& catalogue,
                                                         const harness::Case& c,
                                                         const harness::StopRequest& stop);

/// The folder of suites, pinned cases and topologies: share/rankcheck in the program's folder or in
/// the one above it. In a build, that is a link to the sources. Throws BadInput where there is
/// neither.
[[nodiscard]] std::filesystem::path data_folder();
/// All suites that come with rankcheck, sorted by name.
[[nodiscard]] std::vector<harness::Suite> known_suites();
/// Whether a suite is named by the path of its file.
[[nodiscard]] bool is_path_of_suite(const std::string& name);
/// A suite by its name or by the path of its file. Throws BadInput that tells close names.
[[nodiscard]] harness::Suite find_suite(const std::string& name);

/// A pinned case and its place, "all_reduce/dropped_chunk" for
/// cases/<family>/all_reduce/pinned/dropped_chunk.json.
struct PinnedCase {
  std::string name;
  harness::Case value;
};

/// All pinned cases, sorted by name. Throws BadInput that names the file, and FileError where
/// cases/ cannot be read: a run without its regressions says so.
[[nodiscard]] std::vector<PinnedCase> pinned_cases();

/// A case from its JSON text or from a file that holds it; where it names no property, the default
/// one, or the first of an operation that does not claim that. Throws BadInput and FileError.
[[nodiscard]] harness::Case read_case(const harness::Catalogue& catalogue,
                                      const std::string& text_or_path);

/// Machine, compilers and backends: what the report's environment object says of the surroundings.
[[nodiscard]] nlohmann::ordered_json describe_machine();
/// What `rankcheck doctor` says: the machine with its compilers and drivers, and the backends.
[[nodiscard]] nlohmann::ordered_json examine();

/// Columns of the terminal that standard output goes to, or what COLUMNS says; elsewhere lines may
/// be as long as they like.
[[nodiscard]] std::size_t terminal_width();

/// The time as 2026-01-31T12:00:00Z.
[[nodiscard]] std::string utc_now();

}  // namespace rankcheck::cases
