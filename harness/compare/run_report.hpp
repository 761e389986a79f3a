#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/case/verdict.hpp"
#include "harness/compare/bench_results.hpp"

namespace rankcheck::harness::compare {

/// How often a known defect showed in one unit, see KnownCount.
struct RunKnown {
  std::string id;
  std::int64_t covered = 0;
  std::int64_t failed = 0;
};

/// What a report says about one unit, as far as a comparison needs it. Cases stay as they were
/// written, because another version of rankcheck may have other fields. A device, a link or a part
/// of the gate for hardware is a unit, too: "hardware/links/0-1 copy peer".
struct RunFinding {
  std::string id;
  std::string operation;
  std::string algorithm;
  std::string backend;
  std::string property;
  /// The name of the code under test: a subject's name, or the backend.
  std::string tested;
  Verdict verdict = Verdict::passed;
  /// None in reports of versions that did not name it.
  Symptom symptom = Symptom::none;
  std::string reason;
  /// What was asked for: the fields of the unit that are no names.
  nlohmann::ordered_json asked = nlohmann::ordered_json::object();
  std::int64_t cases = 0;
  /// The most members that a judged case had. 0 if the report does not say it.
  int ranks_max = 0;
  double ratio_max = 0;
  /// See Power and Finding.
  double smallest_change = 0;
  std::int64_t powerless_cases = 0;
  /// Seconds that the unit took. Empty if the report does not say it.
  std::optional<double> duration_s = {};
  /// Cells that cases covered, and cells that only known failures reached. Sorted, each once.
  std::vector<std::string> cells;
  /// Whether every cell that the backend takes was required.
  bool requires_all_cells = false;
  /// The minimal case of a failure. Null if there is none.
  nlohmann::ordered_json minimal;
  /// The known defects that cover some case, and whether all failures are known.
  std::vector<RunKnown> known = {};
  bool is_known = false;
  /// Whether the unit ended at a known failure, because its run did not know the defect.
  bool may_hide_others = false;
  /// The whole finding of a failure, if it was asked for. Otherwise null.
  nlohmann::ordered_json whole = {};
};

/// A report on disk.
struct RunReport {
  /// The path, as the user wrote it.
  std::string name;
  nlohmann::ordered_json run;
  std::string ending;
  std::map<std::string, RunFinding> findings;
  /// Without the units' durations, which are in the findings.
  nlohmann::ordered_json environment;
  /// The measurements beside the report. Empty if there are none.
  std::optional<BenchResults> bench = {};
  /// The bandwidths of the links of a gate for hardware, by the ids of the links' findings.
  std::map<std::string, Measurement> links = {};
  /// What the run said of the known defects that it was given: the state of each, by its id.
  std::map<std::string, std::string> known = {};
};

/// Whether the unit was judged. A unit that was skipped or errored was not, and one that is vacuous
/// showed nothing.
[[nodiscard]] bool is_judged(Verdict verdict);

/// Whether the unit ran to its end, so that its coverage can be compared: it passed, or failed only
/// as its run knew before.
[[nodiscard]] bool is_whole(const RunFinding& finding);

/// Reads a report, and the measurements beside it (bench.json) if there are any. `path` is
/// report.json or the folder that holds it. `keeps_failures` fills RunFinding::whole, which needs
/// time and memory. Throws BadInput that names the file and the field, and FileError.
[[nodiscard]] RunReport read_run_report(const std::filesystem::path& path,
                                        bool keeps_failures = false);

/// Reads several reports, two at a time. Throws what read_run_report() throws of the first one that
/// cannot be read.
[[nodiscard]] std::vector<RunReport> read_run_reports(const std::vector<std::string>& paths,
                                                      bool keeps_failures = false);

}  // namespace rankcheck::harness::compare
