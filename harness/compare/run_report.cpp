#include "harness/compare/run_report.hpp"

#include <functional>
#include <future>
#include <set>
#include <utility>

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

/// Reads the part of a finding that comparisons need. Other fields may be those of another version.
RunFinding finding_from(const ordered_json& text, const std::string& place) {
  const json value = text;
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
  std::vector<std::string> known_cells;
  fields.optional("known_cells", known_cells);
  finding.cells.insert(known_cells.begin(), known_cells.end());
  fields.optional("is_known", finding.is_known);
  read_known(fields, place, finding);
  // The case keeps the order of its fields, which is easier to read.
  if (text.contains("minimal")) finding.minimal = text["minimal"];
  return finding;
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

/// Takes the largest parts out of a report while it is parsed, so that they need no memory as JSON:
/// findings, the names of their cells, and durations. ordered_json would look for each name among
/// all earlier ones.
class LargeParts {
 public:
  using Event = ordered_json::parse_event_t;

  LargeParts(std::string place, bool keeps_failures, RunReport& report)
      : place_(std::move(place)), keeps_failures_(keeps_failures), report_(report) {}

  /// Returns whether the value stays in the JSON.
  bool operator()(int depth, Event event, ordered_json& parsed) {
    if (event == Event::key) return take_name(depth, parsed.get_ref<const std::string&>());
    const bool is_finding = top_ == "findings" && depth == 2;
    // A value is discarded while it begins, and is whole when it ends.
    if (is_finding && parsed.is_object()) {
      take_finding(parsed);
      return false;
    }
    if (is_finding && !parsed.is_discarded()) {
      throw BadInput(next_place() + ": expected an object");
    }
    const bool is_duration = top_ == "environment" && field_ == "durations_s" && depth == 3;
    if (is_duration && event == Event::value && parsed.is_number()) {
      durations_[unit_] = parsed.get<double>();
    }
    return true;
  }

  /// Gives the durations to the findings, which come first in a report.
  void finish() {
    for (const auto& [id, seconds] : durations_) {
      const auto found = report_.findings.find(id);
      if (found != report_.findings.end()) found->second.duration_s = seconds;
    }
  }

 private:
  [[nodiscard]] std::string next_place() const {
    return fmt::format("{}: findings[{}]", place_, report_.findings.size());
  }

  bool take_name(int depth, const std::string& name) {
    if (depth == 1) {
      top_ = name;
      return name != "summary" && name != "total";
    }
    if (top_ == "findings") {
      if (depth == 3) {
        field_ = name;
        return keeps_failures_ || (name != "wrong" && name != "marks" && name != "values");
      }
      if (depth != 4 || field_ != "cells") return true;
      cells_.insert(cells_.end(), name);
      return false;
    }
    if (top_ != "environment") return true;
    if (depth == 2) field_ = name;
    if (depth != 3 || field_ != "durations_s") return true;
    unit_ = name;
    return false;
  }

  void take_finding(const ordered_json& parsed) {
    RunFinding finding = finding_from(parsed, next_place());
    if (keeps_failures_ && is_failure(finding.verdict)) finding.whole = parsed;
    finding.cells.merge(cells_);
    cells_.clear();
    std::string id = finding.id;
    if (report_.findings.emplace(id, std::move(finding)).second) return;
    throw BadInput(fmt::format("{}: findings: {}: expected each unit once", place_, printable(id)));
  }

  std::string place_;
  bool keeps_failures_;
  RunReport& report_;
  /// The names on the way to what is parsed: of the report, of a finding or of the environment.
  std::string top_;
  std::string field_;
  std::string unit_;
  std::set<std::string> cells_;
  std::map<std::string, double> durations_;
};

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

/// Parses a report. Returns a discarded value if it is not JSON or is nested too deeply.
ordered_json parsed(const std::string& text, LargeParts& parts) {
  ordered_json value(ordered_json::value_t::discarded);
  if (is_shallow(text, json_depth_max)) {
    value = ordered_json::parse(text, std::ref(parts), false);
  }
  return value;
}

}  // namespace

bool is_whole(const RunFinding& finding) {
  return finding.verdict == Verdict::passed ||
         (is_failure(finding.verdict) && finding.is_known && !finding.may_hide_others);
}

bool is_judged(Verdict verdict) {
  return verdict == Verdict::passed || is_failure(verdict);
}

RunReport read_run_report(const fs::path& path, bool keeps_failures) {
  const fs::path file = file_of(path);
  const std::string place = file.string();
  RunReport report;
  report.name = path.string();
  LargeParts parts(place, keeps_failures, report);
  const ordered_json text = parsed(read_file(file), parts);
  if (text.is_discarded()) throw BadInput(place + ": expected JSON");
  const json plain = text;
  if (!plain.is_object()) throw BadInput(place + ": expected a report, an object");
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
  report.environment.erase("durations_s");
  if (!fields.at("findings").is_array()) fields.fail("findings", "expected a list");
  parts.finish();
  read_statuses(fields, place, report);
  const auto gate = report.environment.find("hardware");
  if (gate != report.environment.end()) add_gate(*gate, place, report);
  std::error_code unknown;
  const fs::path bench = file.parent_path() / bench_name;
  if (fs::exists(bench, unknown)) report.bench = read_bench_results(bench);
  return report;
}

std::vector<RunReport> read_run_reports(const std::vector<std::string>& paths,
                                        bool keeps_failures) {
  std::vector<RunReport> reports;
  for (std::size_t i = 0; i < paths.size(); i += 2) {
    std::future<RunReport> second;
    if (i + 1 < paths.size()) {
      second = std::async(std::launch::async,
                          [&, i] { return read_run_report(paths[i + 1], keeps_failures); });
    }
    reports.push_back(read_run_report(paths[i], keeps_failures));
    if (second.valid()) reports.push_back(second.get());
  }
  return reports;
}

}  // namespace rankcheck::harness::compare
