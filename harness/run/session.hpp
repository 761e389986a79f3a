#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
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

/// Returns the beginning of messages about the run to resume.
[[nodiscard]] std::string place_of_resume(const std::filesystem::path& folder);
/// Throws BadInput if the journal to resume has no checksums. Without them, a changed digit could
/// change the verdict unseen.
void require_checksums(const std::string& place, const JsonLines& lines);
/// Throws BadInput if an option is given that differs from the options with which the run began.
void require_unchanged(const std::string& place, const Selection& before, const Selection& given);

/// Plans a run, and may complete the selection. `before` is the header of the run to resume, or
/// null if the run is new. Throws BadInput and Interrupted.
using Planner = std::function<RunPlan(
    const RunOptions& options, Selection& selection, const JournalHeader* before)>;

/// Plans a run and begins its journal, or continues the run to resume. Throws BadInput, also if the
/// run to resume would now check something else, and FileError. Throws Interrupted if the
/// options' stop is made before there is a journal. Without a planner, it is a run of suites.
[[nodiscard]] Session open_session(const RunOptions& options,
                                   const ThisProgram& program,
                                   const Planner& planner = {});

/// Returns the time in UTC as 2026-01-31T12:00:00Z.
[[nodiscard]] std::string utc_now();

}  // namespace rankcheck::harness::run
