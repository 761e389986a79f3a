#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/journal.hpp"
#include "harness/operation.hpp"

#include "cases/commands/run_options.hpp"
#include "cases/commands/selection.hpp"

namespace rankcheck::cases {

/// One go at a run, the first or a later one: what is to be checked, and the journal, open.
struct Session {
  /// With the time budget and the timeout of the first session where this one has none.
  RunOptions options;
  Selection selection;
  Plan plan;
  std::filesystem::path folder;
  std::chrono::steady_clock::time_point start;
  std::chrono::steady_clock::time_point deadline;
  harness::Journal journal;
};

/// Where the report of such suites goes: as asked for, else a fresh folder under reports/ in the
/// source tree, else under ./rankcheck-report.
[[nodiscard]] std::filesystem::path choose_folder(const RunOptions& options,
                                                  const std::vector<std::string>& suites);

/// Throws BadInput where the folder holds a run.
void expect_no_run(const std::filesystem::path& folder);
/// Makes the folder of a new run, without the reports of one whose journal is gone. Throws BadInput
/// where it holds a run, and FileError.
void begin_folder(const std::filesystem::path& folder);

/// What a report's environment says of a session that began now.
[[nodiscard]] nlohmann::ordered_json environment_of(const RunOptions& options,
                                                    const Plan& plan,
                                                    const std::string& now);

/// What complaints about the run to resume begin with.
[[nodiscard]] std::string place_of_resume(const std::filesystem::path& folder);
/// Throws BadInput where another version of this program began the run.
void expect_this_version(const std::string& place, const nlohmann::ordered_json& environment);
/// Throws BadInput where the journal to go on with has no checksums: a digit that changed there
/// would change the verdict of the run.
void expect_checksums(const std::string& place, const harness::JsonLines& lines);
/// Throws BadInput where something that is given is not as the run began.
void expect_unchanged(const std::string& place, const Selection& before, const Selection& given);
/// Time budget and timeout are those of the environment in which the run began where none are
/// given.
void complete(RunOptions& options,
              const std::string& place,
              const nlohmann::ordered_json& environment);

/// Plans a run and begins its journal, or goes on with the one to resume. Throws BadInput, also
/// where the run to resume checks something else by now, FileError, and harness::Interrupted where
/// the options' stop is made before there is a journal.
[[nodiscard]] Session open_session(const RunOptions& options, const harness::Catalogue& catalogue);

}  // namespace rankcheck::cases
