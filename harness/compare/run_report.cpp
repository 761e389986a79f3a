#include "harness/compare/run_report.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

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

/// The fields of a unit that name it. All others say what was asked for.
const std::set<std::string, std::less<>> unit_names{
    "operation", "algorithm", "backend", "property", "pinned", "variant", "subject"};

void read_known(Fields& fields, const std::string& place, RunFinding& finding) {
  const json* const list = fields.find("known");
  if (list == nullptr) return;
  if (!list->is_array()) fields.fail("known", "expected a list");
  for (const json& each : *list) {
    Fields entry(each, place + ": known");
    RunKnown& known = finding.known.emplace_back();
    entry.required("id", known.id);
    entry.at_least_0("covered", known.covered);
    entry.at_least_0("failed", known.failed);
  }
}

/// Reads what a run said of its known defects, if it was given any.
void read_statuses(Fields& fields, const std::string& place, RunReport& report) {
  const json* const list = fields.find("known");
  if (list == nullptr) return;
  if (!list->is_array()) fields.fail("known", "expected a list");
  for (const json& each : *list) {
    Fields entry(each, place + ": known");
    std::string id;
    bool is_expired = false;
    entry.required("id", id);
    entry.required("state", report.known[id]);
    entry.optional("is_expired", is_expired);
    if (is_expired) report.known[id] += ", expired";
  }
}

/// A copy without some fields, which can be large. Its fields are sorted, so they are found
/// quickly.
json copy_without(const ordered_json& object, std::initializer_list<std::string_view> left_out) {
  json copy = json::object();
  for (const auto& [key, value] : object.items()) {
    const bool is_kept = std::find(left_out.begin(), left_out.end(), key) == left_out.end();
    if (is_kept) copy[key] = value;
  }
  return copy;
}

/// Reads the part of a finding that comparisons need. Other fields may be those of another version.
RunFinding finding_from(const ordered_json& text, const std::string& place) {
  if (!text.is_object()) throw BadInput(place + ": expected an object");
  const json value = copy_without(text, {"minimal", "wrong", "marks", "values"});
  RunFinding finding;
  Fields fields(value, place);
  fields.required("id", finding.id);
  Fields unit(fields.at("unit"), place + ": unit");
  unit.required("operation", finding.operation);
  unit.required("algorithm", finding.algorithm);
  unit.required("backend", finding.backend);
  unit.required("property", finding.property);
  finding.tested = finding.backend;
  unit.optional("subject", finding.tested);
  unit.optional("require_all_cells", finding.requires_all_cells);
  for (const auto& [key, field] : text["unit"].items()) {
    if (!unit_names.contains(key)) finding.asked[key] = field;
  }
  fields.required("verdict", finding.verdict);
  fields.optional("reason", finding.reason);
  fields.at_least_0("cases", finding.cases);
  fields.at_least_0("ratio_max", finding.ratio_max);
  if (const json* const power = fields.find("power")) {
    Fields(*power, place + ": power").optional("smallest_change", finding.smallest_change);
  }
  fields.optional("powerless_cases", finding.powerless_cases);
  std::map<std::string, std::int64_t> cells;
  fields.optional("cells", cells);
  for (const auto& [cell, cases] : cells) finding.cells.insert(cell);
  std::vector<std::string> known_cells;
  fields.optional("known_cells", known_cells);
  finding.cells.insert(known_cells.begin(), known_cells.end());
  fields.optional("is_known", finding.is_known);
  read_known(fields, place, finding);
  // The case keeps the order of its fields, which is easier to read.
  if (text.contains("minimal")) finding.minimal = text["minimal"];
  return finding;
}

/// Moves the durations of units from the environment to the findings.
void take_durations(RunReport& report) {
  const auto durations = report.environment.find("durations_s");
  if (durations == report.environment.end()) return;
  for (const auto& [id, value] : durations->items()) {
    const auto found = report.findings.find(id);
    if (found != report.findings.end() && value.is_number()) {
      found->second.duration_s = value.get<double>();
    }
  }
  report.environment.erase("durations_s");
}

/// Adds what the gate for hardware says of its devices, links and parts, as units. The text is the
/// gate's part of the environment.
void add_gate(const ordered_json& gate, const std::string& place, RunReport& report) {
  const auto add = [&](const std::string& kind, const std::string& name, const ordered_json& text) {
    const json value = text;
    Fields fields(value, fmt::format("{}: environment: hardware: {}", place, kind));
    RunFinding finding;
    finding.operation = "hardware";
    finding.algorithm = kind;
    finding.tested = "hardware";
    finding.id = fmt::format("hardware/{}/{}", kind, name);
    fields.required("verdict", finding.verdict);
    fields.optional("reason", finding.reason);
    report.findings.emplace(finding.id, std::move(finding));
  };
  const auto each = [&](const char* list, const auto& name_of) {
    const auto found = gate.find(list);
    if (found == gate.end() || !found->is_array()) return;
    for (const ordered_json& entry : *found) {
      if (entry.is_object()) add(list, name_of(entry), entry);
    }
  };
  const auto word = [](const ordered_json& entry, const char* field) {
    const ordered_json value = entry.value(field, ordered_json());
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  each("devices", [&](const ordered_json& entry) { return word(entry, "device"); });
  each("links", [&](const ordered_json& entry) {
    return fmt::format("{}-{} {} {}",
                       word(entry, "from"),
                       word(entry, "to"),
                       word(entry, "method"),
                       word(entry, "way"));
  });
  each("phases", [&](const ordered_json& entry) { return word(entry, "name"); });
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

bool is_whole(const RunFinding& finding) {
  return finding.verdict == Verdict::passed ||
         (is_failure(finding.verdict) && finding.is_known && !finding.may_hide_others);
}

bool is_judged(Verdict verdict) {
  return verdict == Verdict::passed || is_failure(verdict);
}

RunReport read_run_report(const fs::path& path) {
  const fs::path file = file_of(path);
  const std::string place = file.string();
  const auto text = parse_json<ordered_json>(read_file(file));
  if (text.is_discarded()) throw BadInput(place + ": expected JSON");
  if (!text.is_object()) throw BadInput(place + ": expected a report, an object");
  const json plain = copy_without(text, {"findings", "summary", "environment"});
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
  const ordered_json none;
  const auto part = [&](const char* field) -> const ordered_json& {
    const auto found = text.find(field);
    return found == text.end() ? none : *found;
  };
  report.environment = part("environment");
  if (!report.environment.is_object()) fields.fail("environment", "expected an object");
  const ordered_json& findings = part("findings");
  if (!findings.is_array()) fields.fail("findings", "expected a list");
  for (std::size_t i = 0; i < findings.size(); ++i) {
    RunFinding finding = finding_from(findings[i], fmt::format("{}: findings[{}]", place, i));
    std::string id = finding.id;
    if (!report.findings.emplace(id, std::move(finding)).second) {
      fields.fail("findings", fmt::format("{}: expected each unit once", printable(id)));
    }
  }
  read_statuses(fields, place, report);
  take_durations(report);
  const auto gate = report.environment.find("hardware");
  if (gate != report.environment.end()) add_gate(*gate, place, report);
  std::error_code unknown;
  const fs::path bench = file.parent_path() / bench_name;
  if (fs::exists(bench, unknown)) report.bench = read_bench_results(bench);
  return report;
}

}  // namespace rankcheck::harness::compare
