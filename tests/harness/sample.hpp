#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "harness/report/report.hpp"

namespace rankcheck::harness {

/// Returns the unit with this id: "operation/algorithm/backend/property".
inline Unit unit_named(const std::string& id) {
  Unit unit;
  std::istringstream parts(id);
  for (std::string* each : {&unit.operation, &unit.algorithm, &unit.backend, &unit.property}) {
    std::getline(parts, *each, '/');
  }
  return unit;
}

inline Unit sample_unit(const std::string& operation, const std::string& backend = "sim") {
  Unit unit = unit_named(operation + "/ring/sim/agrees_with_reference");
  unit.backend = backend;
  return unit;
}

inline Finding sample_finding(const std::string& operation, Verdict verdict) {
  Finding finding;
  finding.unit = sample_unit(operation);
  finding.verdict = verdict;
  finding.cases = 10;
  finding.compared_bytes = 400;
  finding.ratio_max = 0.5;
  finding.cells = {{"f32/sum", 10}};
  if (verdict == Verdict::passed) return finding;
  finding.reason = "differs from the reference";
  if (verdict == Verdict::skipped) finding.reason = name(SkipReason::backend_unavailable);
  return finding;
}

inline Finding passed(const std::string& operation) {
  return sample_finding(operation, Verdict::passed);
}

/// Returns a failure with everything that a finding can hold.
inline Finding sample_failure() {
  Finding finding = sample_finding("all_reduce", Verdict::falsified);
  finding.cell_members = {{"f32/sum", {{{2, 4}, {3, 6}}}}};
  finding.missing_cells = {"int8/sum"};
  finding.power = {
      .elements = 400, .useful = 399, .smallest_change = std::numeric_limits<double>::infinity()};
  finding.powerless_cases = 1;
  finding.minimal.emplace();
  finding.minimal->operation = "all_reduce";
  finding.minimal->ranks = 3;
  finding.minimal->count = 1;
  finding.wrong = {{.rank = 1,
                    .index = 2,
                    .expected = "3",
                    .got = "nan",
                    .error = std::numeric_limits<double>::quiet_NaN(),
                    .bound = 0,
                    .decoded = "rank 2 missing"}};
  finding.wrong_count = 1;
  finding.original = finding.minimal;
  finding.original->ranks = 5;
  finding.original->count = 65535;
  finding.steps = {"count 65535 -> 1", "ranks 5 -> 4", "ranks 4 -> 3"};
  finding.shrinks = 4;
  finding.replays = 5;
  finding.replays_failed = 5;
  return finding;
}

inline Report report_of(std::vector<Finding> findings) {
  Report report;
  report.findings = std::move(findings);
  return report;
}

inline Report sample_report() {
  Report report;
  report.run = {{"suites", {"smoke"}}, {"seed", 1}};
  for (const Verdict verdict :
       {Verdict::passed, Verdict::flaky, Verdict::skipped, Verdict::errored}) {
    report.findings.push_back(sample_finding("broadcast", verdict));
  }
  report.findings.push_back(sample_failure());
  return report;
}

/// The number of bytes of a text's longest line, without the lines that are made to be pasted.
inline std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" replay ") == std::string::npos) widest = std::max(widest, line.size());
  }
  return widest;
}

/// A temporary folder, which the destructor removes.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rankcheck-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace rankcheck::harness
