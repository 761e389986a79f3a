#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/report/journal.hpp"
#include "harness/run/run_options.hpp"
#include "harness/run/run_plan.hpp"
#include "harness/run/selection.hpp"
#include "harness/run/this_program.hpp"

namespace rankcheck::harness::run {

/// The journal in a run's folder. All other files of the folder can be made from it again.
inline constexpr const char* journal_name = "journal.jsonl";

/// One session of a run, which is new or resumed: its checks and its open journal.
struct Session {
  /// If this session got no time budget, timeout or number of replays, the values are those of the
  /// first session.
  RunOptions options;
  Selection selection;
  RunPlan plan;
  std::filesystem::path folder;
  std::chrono::steady_clock::time_point start;
  std::chrono::steady_clock::time_point deadline;
  Journal journal;
};

/// Returns the folder for the report of such suites, which is the requested one. If none is
/// requested, it is a new one under reports/ in the source tree, or else under ./rankcheck-report.
[[nodiscard]] std::filesystem::path choose_folder(const RunOptions& options,
                                                  const std::vector<std::string>& suites);

/// Throws BadInput if the folder holds a run.
void require_no_run(const std::filesystem::path& folder);
/// Creates the folder of a new run and removes old reports in it. Throws BadInput if the folder
/// holds a run, and FileError.
void begin_folder(const std::filesystem::path& folder);
/// Removes the run that a folder holds, if any. Throws BadInput if it holds anything else.
void remove_run(const std::filesystem::path& folder);

/// Returns the environment object of the report. `now` is the time at which the session began.
[[nodiscard]] nlohmann::ordered_json environment_of(const ThisProgram& program,
                                                    const RunOptions& options,
                                                    const RunPlan& plan,
                                                    const std::string& now);

/// Returns the beginning of messages about the run to resume.
[[nodiscard]] std::string place_of_resume(const std::filesystem::path& folder);
/// Throws BadInput if another version or commit of this program began the run.
void require_this_version(const ThisProgram& program,
                          const std::string& place,
                          const nlohmann::ordered_json& environment);
/// Throws BadInput if the journal to resume has no checksums. Without them, a changed digit could
/// change the verdict unseen.
void require_checksums(const std::string& place, const JsonLines& lines);
/// Throws BadInput if an option is given that differs from the options with which the run began.
void require_unchanged(const std::string& place, const Selection& before, const Selection& given);
/// Fills in time budget, timeout and number of replays from the environment in which the run began,
/// if they were not given.
void complete(RunOptions& options,
              const std::string& place,
              const nlohmann::ordered_json& environment);

/// Plans a run and begins its journal, or continues the run to resume. Throws BadInput, also if the
/// run to resume would now check something else, and FileError. Throws Interrupted if the
/// options' stop is made before there is a journal.
[[nodiscard]] Session open_session(const RunOptions& options, const ThisProgram& program);

/// Returns the time in UTC as 2026-01-31T12:00:00Z.
[[nodiscard]] std::string utc_now();

}  // namespace rankcheck::harness::run
