#include "cases/hardware/gate_journal.hpp"

#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "harness/base/json_text.hpp"
#include "harness/case/fields.hpp"
#include "harness/page/page.hpp"
#include "harness/report/known_report.hpp"
#include "harness/search/runner.hpp"

namespace rankcheck::cases::hardware {

namespace {

namespace fs = std::filesystem;
using harness::BadInput;
using harness::Fields;
using nlohmann::json;
using nlohmann::ordered_json;

/// The field of the environment that only gates have.
constexpr const char* gate_field = "hardware";

ordered_json to_json(const ProbeAnswer& answer) {
  return {{"probe", hardware::to_json(answer.request)},
          {"verdict", harness::name(answer.outcome.verdict)},
          {"reason", answer.outcome.reason},
          {"result", hardware::to_json(answer.outcome.result)},
          {"took_s", answer.took_s}};
}

ProbeAnswer answer_from_json(Fields& fields) {
  ProbeAnswer answer{.request = request_from_json(fields.at("probe")), .outcome = {}};
  fields.required("verdict", answer.outcome.verdict);
  fields.required("reason", answer.outcome.reason);
  answer.outcome.result = result_from_json(fields.at("result"));
  fields.at_least_0("took_s", answer.took_s);
  return answer;
}

/// Returns what the phase's own folder says. Only a note says that all speeds were measured. Throws
/// FileError if there is a note and the results are gone.
PhaseOutcome outcome_in(const fs::path& folder, Phase phase, bool has_note) {
  if (phase == Phase::speed && has_note) return {.speeds = read_speeds(folder)};
  PhaseOutcome outcome{.ended_early = "killed"};
  const bool has_results = has_note || harness::holds_run(gate_journal(folder));
  if (phase == Phase::speed || !has_results) return outcome;
  const harness::Record record = harness::read_journal(gate_journal(folder)).record;
  outcome.report = record.report();
  outcome.spent_s = record.spent_s();
  const std::string& ending = outcome.report.ending;
  if (ending != "killed" && ending != name(harness::Ending::interrupted)) {
    outcome.ended_early.clear();
  }
  return outcome;
}

}  // namespace

ordered_json to_json(const GateHeader& header) {
  ordered_json parts = ordered_json::array();
  for (const PhaseRequest& each : header.options.parts) parts.push_back(folder_of(each));
  ordered_json devices = ordered_json::array();
  for (const Device& each : header.devices) devices.push_back(to_json(each));
  return {{"quick", header.options.is_quick},
          {"bytes", header.options.bytes},
          {"parts", std::move(parts)},
          {"devices", std::move(devices)},
          {"doctor", header.doctor}};
}

GateHeader gate_header(const harness::JournalHeader& journal) {
  const json run = journal.run;
  const json environment = journal.environment;
  GateHeader header;
  Fields(run, "run").required("seed", header.options.seed);
  Fields of_environment(environment, "environment");
  Fields fields(of_environment.at(gate_field), "environment: hardware");
  fields.required("quick", header.options.is_quick);
  fields.at_least_0("bytes", header.options.bytes);
  if (!fields.at("devices").is_array()) fields.fail("devices", "expected a list");
  for (const json& each : fields.at("devices")) header.devices.push_back(device_from_json(each));
  std::vector<std::string> parts;
  fields.required("parts", parts);
  for (const std::string& each : parts) {
    const auto request = phase_of_folder(each);
    const bool is_one = request && (request->phase != Phase::device ||
                                    request->number < std::ssize(header.devices));
    if (!is_one) fields.fail("parts", "got " + each + ", expected parts of the gate");
    header.options.parts.push_back(*request);
  }
  header.doctor = harness::required_object("doctor", fields, journal.environment.at(gate_field));
  return header;
}

fs::path gate_journal(const fs::path& folder) {
  return folder / "journal.jsonl";
}

bool is_gate(const fs::path& folder) {
  const fs::path path = gate_journal(folder);
  std::error_code unknown;
  if (!fs::exists(path, unknown)) return false;
  const std::string text = harness::read_file(path);
  const json header = harness::parse_json(text.substr(0, text.find('\n')));
  const json environment = header.is_object() ? header.value("environment", json()) : json();
  return environment.is_object() && environment.contains(gate_field);
}

fs::path gate_of_part(const fs::path& folder) {
  std::error_code none;
  const fs::path whole = fs::weakly_canonical(folder, none);
  if (none || !phase_of_folder(whole.filename().string())) return {};
  if (!is_gate(whole.parent_path())) return {};
  const fs::path gate = fs::proximate(whole.parent_path(), none);
  return none ? whole.parent_path() : gate;
}

Gate gate_in(const fs::path& folder, const harness::Record& record) {
  GateHeader header = gate_header(record.header());
  Gate gate(header.options, std::move(header.devices));
  // Phases that ended, and why those were not run that left nothing in their folders.
  std::map<std::string, PhaseOutcome> ended;
  for (const ordered_json& each : record.notes()) {
    const json note = each;
    Fields fields(note, "note");
    if (fields.find("probe") != nullptr) {
      gate.add(answer_from_json(fields));
      continue;
    }
    std::string part;
    fields.required("part", part);
    PhaseOutcome& outcome = ended[part];
    fields.required("skipped", outcome.skipped);
    fields.required("broken", outcome.broken);
  }
  std::vector<PhaseRequest> phases = std::move(header.options.parts);
  phases.push_back({.phase = Phase::soak});
  for (const PhaseRequest& each : phases) {
    const std::string part = folder_of(each);
    const auto note = ended.find(part);
    const bool has_note = note != ended.end();
    if (has_note && !(note->second.skipped + note->second.broken).empty()) {
      gate.add(each, note->second);
    } else if (has_note || fs::exists(folder / part)) {
      gate.add(each, outcome_in(folder / part, each.phase, has_note));
    }
  }
  return gate;
}

std::string run_gate(const fs::path& folder, Gate gate, harness::Journal& journal, Hooks live) {
  const auto run = std::move(live.run);
  const auto report = [&] { write_reports(folder, report_of(folder)); };
  live.keep = [&](const ProbeAnswer& answer) { journal.note(to_json(answer)); };
  live.run = [&](const PhaseRequest& request) {
    report();
    PhaseOutcome outcome = run(request);
    if (outcome.ended_early.empty()) {
      journal.note(
          {{"part", folder_of(request)}, {"skipped", outcome.skipped}, {"broken", outcome.broken}});
    }
    return outcome;
  };
  // The first report contains the output of doctor and the results of earlier sessions.
  report();
  const std::string ended_early = gate.run(live);
  return gate.report(ended_early).report.ending;
}

GateReport report_of(const fs::path& folder) {
  const harness::Record record = harness::read_journal(gate_journal(folder)).record;
  harness::Report own = record.report();
  const bool is_completed = own.ending == name(harness::Ending::completed);
  GateReport gate = gate_in(folder, record).report(is_completed ? "" : own.ending);
  harness::Report& report = gate.report;
  report.run = std::move(own.run);
  if (gate.is_quick) report.run["quick"] = true;
  if (report.environment.is_object()) own.environment.update(report.environment);
  own.environment.erase("rounds");
  report.environment = std::move(own.environment);
  report.is_strict = own.is_strict;
  report.known = harness::known_statuses(
      record.known(), report.environment, report.findings, is_completed && report.not_run == 0);
  gate.status = exit_status(report);
  ordered_json said = to_json(gate);
  said["doctor"] = gate_header(record.header()).doctor;
  report.environment[gate_field] = std::move(said);
  return gate;
}

void write_reports(const fs::path& folder, const GateReport& gate) {
  harness::write_report(folder, gate.report);
  harness::page::write_page(folder, gate.report);
  harness::write_file(folder / "summary.md", to_markdown(gate) + '\n' + to_markdown(gate.report));
}

}  // namespace rankcheck::cases::hardware
