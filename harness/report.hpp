#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/finding.hpp"
#include "harness/summary.hpp"

namespace rankcheck::harness {

/// The version of report.json that reports/schema.json describes.
inline constexpr int report_version = 1;

/// Everything that a report says. Two runs of one seed differ in `environment` alone.
struct Report {
  /// Suites, seed and options.
  nlohmann::ordered_json run;
  /// "completed", or why the run ended early.
  std::string ending = "completed";
  /// Units for which there is no finding, because the run ended early.
  std::int64_t not_run = 0;
  /// Sorted by unit.
  std::vector<Finding> findings;
  /// The exit status that whatever else was required asks for; 0 where that held, or there is none.
  int status_beyond_findings = 0;
  /// What varies: times, host, versions, paths, jobs. An allow-list, never the process environment.
  nlohmann::ordered_json environment;
};

/// The exit status of its findings and of what was required beyond them; 2 where units were not run
/// or cut short and nothing is red. 1 outweighs 2.
[[nodiscard]] int exit_status(const Report& report);

[[nodiscard]] nlohmann::ordered_json to_json(const Report& report);

/// "3 units were not run", and which were cut short by a time limit.
[[nodiscard]] std::string what_was_cut(const Report& report);

/// For people, and for the step summary of a CI system: the table, the outcomes, the failures.
[[nodiscard]] std::string to_markdown(const Report& report);

/// JUnit XML: a suite per operation and backend. Flaky becomes flakyFailure, errored error,
/// skipped skipped with its reason, everything else that is not passed a failure.
[[nodiscard]] std::string to_junit(const Report& report);

/// What is wrong, in a few lines for people: the minimal case and the first wrong elements; empty
/// for findings without a failure. `program` is how the reader calls rankcheck in a shell.
[[nodiscard]] std::string explain(const Finding& finding, const std::string& program);

/// The first wrong elements, a row each.
[[nodiscard]] Table to_table(const std::vector<WrongElement>& wrong);

/// Writes report.json, junit.xml and summary.md, each whole or not at all. Throws FileError.
void write_report(const std::filesystem::path& folder, const Report& report);

}  // namespace rankcheck::harness
