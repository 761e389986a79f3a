#include "harness/compare/run_report.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "harness/base/files.hpp"
#include "harness/base/table.hpp"
#include "harness/case/fields.hpp"
#include "harness/compare/report_parser.hpp"
#include "harness/report/report.hpp"

namespace rankcheck::harness::compare {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

/// The fields of a finding that are not compared. A page shows some of them.
const SkippedFields not_compared{"cell_members",
                                 "compared_bytes",
                                 "marks",
                                 "missing_cells",
                                 "original",
                                 "refusal",
                                 "refused_cases",
                                 "refused_cells",
                                 "replays",
                                 "replays_failed",
                                 "shrinks",
                                 "steps",
                                 "values",
                                 "wrong",
                                 "wrong_count"};

/// The fields of a unit that name it. All others say what was asked for.
const std::set<std::string, std::less<>> unit_names{
    "operation", "algorithm", "backend", "property", "pinned", "variant", "subject"};

/// Calls take(id, entry) for each known defect of a report or of a finding, if it names any.
template <class Take>
void each_known(Fields& fields, const std::string& place, const Take& take) {
  const json* const list = fields.find("known");
  if (list == nullptr) return;
  if (!list->is_array()) fields.fail("known", "expected a list");
  for (const json& each : *list) {
    Fields entry(each, place + ": known");
    std::string id;
    entry.required("id", id);
    take(id, entry);
  }
}

/// The names in their order, each once. Reports have them so, so this mostly does nothing.
std::vector<std::string> sorted_names(std::vector<std::string> names) {
  const auto unsorted = std::adjacent_find(names.begin(), names.end(), std::greater_equal<>());
  if (unsorted == names.end()) return names;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// Reads the part of a finding that comparisons need. Other fields may be those of another version.
RunFinding finding_from(const ordered_json& text,
                        const std::string& place,
                        std::vector<std::string> cells) {
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
  fields.optional("symptom", finding.symptom);
  fields.optional("reason", finding.reason);
  fields.at_least_0("cases", finding.cases);
  fields.optional("ranks_max", finding.ranks_max);
  fields.at_least_0("ratio_max", finding.ratio_max);
  if (const json* const power = fields.find("power")) {
    Fields(*power, place + ": power").optional("smallest_change", finding.smallest_change);
  }
  fields.optional("powerless_cases", finding.powerless_cases);
  std::vector<std::string> known_cells;
  fields.optional("known_cells", known_cells);
  cells.insert(cells.end(), known_cells.begin(), known_cells.end());
  finding.cells = sorted_names(std::move(cells));
  fields.optional("is_known", finding.is_known);
  each_known(fields, place, [&](const std::string& id, Fields& entry) {
    RunKnown& known = finding.known.emplace_back(RunKnown{.id = id});
    entry.at_least_0("covered", known.covered);
    entry.at_least_0("failed", known.failed);
  });
  // The case keeps the order of its fields, which is easier to read.
  if (text.contains("minimal")) finding.minimal = text["minimal"];
  return finding;
}

/// Adds the bandwidth of a link. Devices, parts and stand-ins have none.
void add_bandwidth(Fields& fields, const std::string& id, RunReport& report) {
  std::vector<double> times;
  fields.optional("copy_s", times);
  if (times.empty()) return;
  const bool are_times = times.size() == 3 && times.front() > 0 && std::isfinite(times.back()) &&
                         std::is_sorted(times.begin(), times.end());
  if (!are_times) fields.fail("copy_s", "expected three rising numbers of seconds above 0");
  double bytes = 0;
  Fields(fields.at("exposure"), id + ": exposure").required("bytes_of_copy", bytes);
  report.links[id] = {.times = std::move(times), .bytes = bytes};
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
    add_bandwidth(fields, finding.id, report);
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

RunReport read_run_report(const fs::path& path, bool keeps_failures) {
  const fs::path file = file_of(path);
  const std::string place = file.string();
  RunReport report;
  report.name = path.string();
  const auto take = [&](ordered_json parsed, std::vector<std::string> cells) {
    auto& all = report.findings;
    const std::size_t before = all.size();
    RunFinding finding =
        finding_from(parsed, fmt::format("{}: findings[{}]", place, before), std::move(cells));
    if (keeps_failures && is_failure(finding.verdict)) finding.whole = std::move(parsed);
    std::string id = finding.id;
    // Most reports are sorted by the ids.
    all.emplace_hint(all.end(), id, std::move(finding));
    if (all.size() > before) return;
    throw BadInput(fmt::format("{}: findings: {}: expected each unit once", place, printable(id)));
  };
  const ReportRest rest =
      parse_report(read_file(file), place, keeps_failures ? SkippedFields() : not_compared, take);
  const ordered_json& text = rest.json;
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
  for (const auto& [id, seconds] : rest.durations) {
    const auto found = report.findings.find(id);
    if (found != report.findings.end()) found->second.duration_s = seconds;
  }
  each_known(fields, place, [&](const std::string& id, Fields& entry) {
    bool is_expired = false;
    entry.required("state", report.known[id]);
    entry.optional("is_expired", is_expired);
    if (is_expired) report.known[id] += ", expired";
  });
  const auto gate = report.environment.find("hardware");
  if (gate != report.environment.end()) add_gate(*gate, place, report);
  std::error_code unknown;
  // The gate for hardware measures in its part `speed`.
  for (const char* part : {"", "speed"}) {
    const fs::path bench = file.parent_path() / part / bench_name;
    if (!report.bench && fs::exists(bench, unknown)) report.bench = read_bench_results(bench);
  }
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
