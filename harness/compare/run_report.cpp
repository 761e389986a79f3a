#include "harness/compare/run_report.hpp"

#include <fmt/format.h>

#include "harness/fields.hpp"
#include "harness/files.hpp"
#include "harness/json_text.hpp"
#include "harness/report.hpp"
#include "harness/table.hpp"

namespace rankcheck::harness::compare {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

/// Reads the part of a finding that comparisons need. Other fields may be those of another version.
RunFinding finding_from(const ordered_json& text, const std::string& place) {
  const json value = text;
  RunFinding finding;
  Fields fields(value, place);
  fields.required("id", finding.id);
  Fields unit(fields.at("unit"), place + ": unit");
  unit.required("operation", finding.operation);
  unit.required("algorithm", finding.algorithm);
  unit.required("backend", finding.tested);
  unit.optional("subject", finding.tested);
  unit.optional("require_all_cells", finding.requires_all_cells);
  fields.required("verdict", finding.verdict);
  fields.optional("reason", finding.reason);
  fields.at_least_0("cases", finding.cases);
  fields.at_least_0("ratio_max", finding.ratio_max);
  std::map<std::string, std::int64_t> cells;
  fields.optional("cells", cells);
  for (const auto& [cell, cases] : cells) finding.cells.insert(cell);
  // The case keeps the order of its fields, which is easier to read.
  if (text.contains("minimal")) finding.minimal = text["minimal"];
  return finding;
}

/// Returns the file that the user means. A folder without the file may hold only a journal.
fs::path file_of(const fs::path& path) {
  std::error_code absent;
  if (!fs::is_directory(path, absent)) return path;
  fs::path file = path / report_name;
  if (fs::exists(file, absent)) return file;
  throw BadInput(
      fmt::format("{}: expected a folder with {}, which `rankcheck report` writes from a "
                  "journal",
                  path.string(),
                  report_name));
}

}  // namespace

bool is_judged(Verdict verdict) {
  return verdict == Verdict::passed || is_failure(verdict);
}

RunReport read_run_report(const fs::path& path) {
  const fs::path file = file_of(path);
  const std::string place = file.string();
  const auto text = parse_json<ordered_json>(read_file(file));
  if (text.is_discarded()) throw BadInput(place + ": expected JSON");
  const json plain = text;
  if (!plain.is_object()) throw BadInput(place + ": expected a report, an object");
  RunReport report;
  report.name = path.string();
  Fields fields(plain, place);
  int version = 0;
  fields.required("report_version", version);
  if (version != report_version) {
    fields.fail("report_version", fmt::format("{}: expected {}", version, report_version));
  }
  fields.required("ending", report.ending);
  if (!fields.at("run").is_object()) fields.fail("run", "expected an object");
  report.run = text["run"];
  if (!fields.at("environment").is_object()) fields.fail("environment", "expected an object");
  report.environment = text["environment"];
  const json& findings = fields.at("findings");
  if (!findings.is_array()) fields.fail("findings", "expected a list");
  for (std::size_t i = 0; i < findings.size(); ++i) {
    RunFinding finding =
        finding_from(text["findings"][i], fmt::format("{}: findings[{}]", place, i));
    std::string id = finding.id;
    if (!report.findings.emplace(id, std::move(finding)).second) {
      fields.fail("findings", fmt::format("{}: expected each unit once", printable(id)));
    }
  }
  return report;
}

}  // namespace rankcheck::harness::compare
