#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/check/finding.hpp"
#include "harness/report/known_report.hpp"
#include "harness/report/summary.hpp"

namespace rankcheck::harness {

/// The version of report.json. reports/schema.json describes it.
inline constexpr int report_version = 1;

/// The file of a report for programs, in the folder of a run.
inline constexpr const char* report_name = "report.json";

/// The measurements that belong to a run, in the same folder: `rankcheck bench --json` writes them.
inline constexpr const char* bench_name = "bench.json";

/// The page for people, in the same folder. harness/page/ writes it.
inline constexpr const char* page_name = "report.html";

/// The content of a report. Two runs with one seed differ only in `environment`.
struct Report {
  /// Suites, seed and options.
  nlohmann::ordered_json run;
  /// "completed", or why the run ended early.
  std::string ending = "completed";
  /// Number of units without a finding, because the run ended early.
  std::int64_t not_run = 0;
  /// Sorted by unit.
  std::vector<Finding> findings;
  /// What the run says about the known defects that it was given.
  std::vector<KnownStatus> known = {};
  /// Whether a stale entry of these makes the exit status 1.
  bool is_strict = false;
  /// The exit status that requirements other than findings demand. 0 if they held or if there are
  /// none.
  int status_beyond_findings = 0;
  /// Everything that varies: times, host, versions, paths, jobs. An allow-list, never the process
  /// environment.
  nlohmann::ordered_json environment;
};

/// The exit status that follows from findings and other requirements. It is 2 if units were not run
/// or cut short and nothing is red. 1 takes precedence over 2.
[[nodiscard]] int exit_status(const Report& report);

[[nodiscard]] nlohmann::ordered_json to_json(const Report& report);

/// "3 units were not run", and which units a time limit cut short.
[[nodiscard]] std::string what_was_cut(const Report& report);

/// What a page of Markdown says beside the report.
struct SummaryNotes {
  std::string title = "rankcheck";
  /// A line each.
  std::vector<std::string> remarks = {};
};

/// Markdown for people, the most important first: the verdict in a sentence, the first failures
/// with the lines that replay them, remarks, the table with failing rows first, the outcomes, and
/// all failures.
[[nodiscard]] std::string to_markdown(const Report& report, const SummaryNotes& notes = {});

/// JUnit XML with one suite for each operation and backend. A flaky finding becomes flakyFailure,
/// an errored one error, and a skipped one skipped with its reason. All others that did not pass
/// become failure.
[[nodiscard]] std::string to_junit(const Report& report);

/// The line for a shell that runs a case again, given as JSON.
[[nodiscard]] std::string replay_line(const std::string& case_text,
                                      const std::string& program = "rankcheck");

/// The line that runs the case of a finding again. Empty if there is no case, or a long one.
[[nodiscard]] std::string short_replay_line(const Finding& finding);

/// What is wrong, in a few lines for people: the first wrong elements and the minimal case, or the
/// cells that were never covered if nothing failed. Empty if there is nothing to explain. `program`
/// is the command with which the reader calls rankcheck in a shell.
[[nodiscard]] std::string explain(const Finding& finding, const std::string& program);

/// What had the value that a wrong element should have: "expected", or for example "rank 0 has".
[[nodiscard]] std::string title_of_expected(const WrongElement& wrong);

/// A table with one row for each listed wrong element. It names stages and their groups if some
/// element belongs to a later stage than the first. It has no errors and bounds if all are 0, as
/// where bits are compared.
[[nodiscard]] Table to_table(const std::vector<WrongElement>& wrong);

/// Writes report.json, junit.xml and summary.md, each whole or not at all. Throws FileError.
void write_report(const std::filesystem::path& folder, const Report& report);

}  // namespace rankcheck::harness
