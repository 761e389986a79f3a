#include "cases/hardware/gate_journal.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "harness/base/json_text.hpp"
#include "harness/case/fields.hpp"
#include "harness/known/known_defects.hpp"
#include "harness/page/page.hpp"
#include "harness/search/runner.hpp"

namespace rankcheck::cases::hardware {

namespace {

namespace fs = std::filesystem;
using harness::BadInput;
using harness::Fields;
using harness::line_of;
using harness::required_object;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* version_field = "gate_journal_version";

ordered_json to_json(const PhaseRequest& request) {
  return {{"phase", name(request.phase)},
          {"device", request.device},
          {"ranks", request.ranks},
          {"budget_s", request.budget_s}};
}

PhaseRequest phase_from_json(Fields& fields) {
  PhaseRequest request;
  std::string phase;
  fields.required("phase", phase);
  fields.required("device", request.device);
  fields.at_least_0("ranks", request.ranks);
  fields.at_least_0("budget_s", request.budget_s);
  const auto named = phase_named(phase);
  if (!named) fields.fail("phase", "got " + phase + ", expected the name of a phase");
  request.phase = *named;
  return request;
}

ordered_json to_json(const GateHeader& header) {
  ordered_json devices = ordered_json::array();
  for (const Device& each : header.devices) devices.push_back(hardware::to_json(each));
  ordered_json parts = ordered_json::array();
  for (const PhaseRequest& each : header.options.parts) parts.push_back(to_json(each));
  ordered_json out{{version_field, gate_journal_version},
                   {"run", header.run},
                   {"environment", header.environment},
                   {"doctor", header.doctor},
                   {"seed", header.options.seed},
                   {"parts", std::move(parts)},
                   {"bytes", header.options.bytes},
                   {"devices", std::move(devices)}};
  if (header.options.is_quick) out["quick"] = true;
  if (!header.known.is_null()) out["known"] = header.known;
  return out;
}

GateHeader header_from_json(const ordered_json& value) {
  const json plain = value;
  Fields fields(plain);
  harness::require_version(version_field, gate_journal_version, fields);
  GateHeader header{.run = required_object("run", fields, value),
                    .environment = required_object("environment", fields, value),
                    .doctor = required_object("doctor", fields, value),
                    .known = value.value("known", ordered_json())};
  fields.required("seed", header.options.seed);
  if (!fields.at("parts").is_array()) fields.fail("parts", "expected a list");
  for (const json& each : fields.at("parts")) {
    Fields part(each);
    header.options.parts.push_back(phase_from_json(part));
  }
  fields.at_least_0("bytes", header.options.bytes);
  fields.optional("quick", header.options.is_quick);
  if (!fields.at("devices").is_array()) fields.fail("devices", "expected a list");
  for (const json& each : fields.at("devices")) header.devices.push_back(device_from_json(each));
  return header;
}

ordered_json to_json(const Answer& answer) {
  if (const auto* probe = std::get_if<ProbeAnswer>(&answer)) {
    return {{"probe", hardware::to_json(probe->request)},
            {"verdict", harness::name(probe->outcome.verdict)},
            {"reason", probe->outcome.reason},
            {"result", hardware::to_json(probe->outcome.result)},
            {"at_s", probe->at_s}};
  }
  if (const auto* soak = std::get_if<SoakAnswer>(&answer)) return {{"soak_s", soak->budget_s}};
  if (const auto* begin = std::get_if<PhaseBegin>(&answer)) return to_json(begin->request);
  const auto& phase = std::get<PhaseAnswer>(answer);
  ordered_json out = to_json(phase.request);
  out["skipped"] = phase.skipped;
  out["broken"] = phase.broken;
  out["at_s"] = phase.at_s;
  return out;
}

Answer answer_from_json(Fields& fields) {
  if (const json* request = fields.find("probe")) {
    ProbeAnswer answer{.request = request_from_json(*request), .outcome = {}};
    fields.required("verdict", answer.outcome.verdict);
    fields.required("reason", answer.outcome.reason);
    answer.outcome.result = result_from_json(fields.at("result"));
    fields.at_least_0("at_s", answer.at_s);
    return answer;
  }
  if (fields.find("soak_s") != nullptr) {
    SoakAnswer answer;
    fields.at_least_0("soak_s", answer.budget_s);
    return answer;
  }
  const PhaseRequest request = phase_from_json(fields);
  if (fields.find("at_s") == nullptr) return PhaseBegin{request};
  PhaseAnswer answer{.request = request};
  fields.required("skipped", answer.skipped);
  fields.required("broken", answer.broken);
  fields.at_least_0("at_s", answer.at_s);
  return answer;
}

ordered_json to_json(const GateEnd& end) {
  return {{"ending", end.ending}, {"finished", end.finished}, {"duration_s", end.duration_s}};
}

GateEnd end_from_json(Fields& fields) {
  GateEnd end;
  fields.required("ending", end.ending);
  fields.required("finished", end.finished);
  fields.at_least_0("duration_s", end.duration_s);
  return end;
}

/// Adds one line of a journal to the content. The first line is the header.
void take(const ordered_json& value, std::optional<GateContent>& content) {
  if (!content) {
    GateHeader header = header_from_json(value);
    content.emplace(GateContent{.header = header, .environment = header.environment});
    return;
  }
  const json plain = value;
  Fields fields(plain);
  if (fields.find("resumed") != nullptr) {
    content->environment = required_object("resumed", fields, value);
    content->end.reset();
  } else if (fields.find("ending") != nullptr) {
    content->end = end_from_json(fields);
  } else {
    content->answers.push_back(answer_from_json(fields));
  }
}

double seconds_of(const std::vector<Answer>& answers) {
  double last = 0;
  for (const Answer& each : answers) {
    if (const auto* probe = std::get_if<ProbeAnswer>(&each)) last = probe->at_s;
    if (const auto* phase = std::get_if<PhaseAnswer>(&each)) last = phase->at_s;
  }
  return last;
}

/// Answers the gate: first from the journal, then from the live environment. Live answers are
/// written to the journal before the gate sees them. The gate's time is the time of the last
/// answer, so the gate decides the same in every session.
class Player {
 public:
  /// Calls `before_phase` before a phase begins for the first time.
  Player(fs::path folder,
         const std::vector<Answer>& answers,
         Hooks live,
         std::function<void(const Answer&)> write,
         std::function<void()> before_phase)
      : folder_(std::move(folder)),
        answers_(answers),
        live_(std::move(live)),
        write_(std::move(write)),
        before_phase_(std::move(before_phase)),
        base_s_(seconds_of(answers)) {}

  [[nodiscard]] Hooks hooks() {
    return {
        .probe = [this](const ProbeRequest& request) { return probe(request); },
        .run = [this](const PhaseRequest& request) { return run(request); },
        .soak_s = [this] { return soak_s(); },
        .now_s = [this] { return now_s_; },
        .why_end = [this] { return next_ == answers_.size() ? live_.why_end() : std::string(); },
        // Lines about answers from the journal were printed when these answers came.
        .say =
            [this](const std::string& line) {
              if (next_ == answers_.size()) live_.say(line);
            }};
  }

 private:
  ProbeOutcome probe(const ProbeRequest& request) {
    if (const auto* known = next<ProbeAnswer>(hardware::to_json(request))) {
      now_s_ = known->at_s;
      return known->outcome;
    }
    ProbeAnswer answer{.request = request, .outcome = live_.probe(request)};
    answer.at_s = now_s_ = base_s_ + live_.now_s();
    write_(answer);
    return answer.outcome;
  }

  PhaseOutcome run(const PhaseRequest& request) {
    const bool has_begun = next<PhaseBegin>(to_json(request)) != nullptr;
    if (const auto* known = next<PhaseAnswer>(to_json(request))) {
      now_s_ = known->at_s;
      return outcome_of(*known);
    }
    if (!has_begun) {
      before_phase_();
      write_(PhaseBegin{request});
    }
    PhaseOutcome outcome = live_.run(request);
    if (!outcome.ended_early.empty()) return outcome;
    now_s_ = base_s_ + live_.now_s();
    write_(PhaseAnswer{
        .request = request, .skipped = outcome.skipped, .broken = outcome.broken, .at_s = now_s_});
    return outcome;
  }

  [[nodiscard]] PhaseOutcome outcome_of(const PhaseAnswer& answer) const {
    PhaseOutcome outcome{.skipped = answer.skipped, .broken = answer.broken};
    if (!answer.skipped.empty() || !answer.broken.empty()) return outcome;
    const fs::path folder = folder_ / folder_of(answer.request);
    if (answer.request.phase == Phase::speed) {
      outcome.speeds = read_speeds(folder);
    } else {
      outcome.report = harness::read_journal(gate_journal(folder)).record.report();
    }
    return outcome;
  }

  double soak_s() {
    if (next_ < answers_.size()) {
      const auto* known = std::get_if<SoakAnswer>(&answers_[next_]);
      if (known == nullptr) fail("the question how long the soak may take");
      ++next_;
      return known->budget_s;
    }
    const double budget_s = live_.soak_s();
    if (budget_s > 0) write_(SoakAnswer{budget_s});
    return budget_s;
  }

  [[noreturn]] void fail(const std::string& question) const {
    throw BadInput(fmt::format("{}: answer {}: expected the answer to {}",
                               gate_journal(folder_).string(),
                               next_ + 1,
                               question));
  }

  /// Returns the journal's next answer, which must belong to this question. Returns null after the
  /// last answer. Throws BadInput if the answer belongs to another question.
  template <class Kind>
  const Kind* next(const ordered_json& question) {
    if (next_ == answers_.size()) return nullptr;
    const auto* answer = std::get_if<Kind>(&answers_[next_]);
    if (answer == nullptr || to_json(answer->request) != question) fail(question.dump());
    ++next_;
    return answer;
  }

  fs::path folder_;
  const std::vector<Answer>& answers_;
  Hooks live_;
  std::function<void(const Answer&)> write_;
  std::function<void()> before_phase_;
  std::size_t next_ = 0;
  /// The seconds that earlier sessions took.
  double base_s_;
  double now_s_ = 0;
};

/// Returns hooks for a gate that is only reported. They probe and run nothing. For a phase that
/// ended early, they return its findings so far.
Hooks report_only_hooks(const fs::path& folder, const GateContent& content) {
  std::string ending = content.end ? content.end->ending : "killed";
  if (ending == name(harness::Ending::completed)) ending.clear();
  return {.probe = [](const ProbeRequest&) -> ProbeOutcome {
            throw BadInput("expected the journal of a gate to hold an answer for each probe");
          },
          .run =
              [folder, ending](const PhaseRequest& request) {
                PhaseOutcome outcome{.ended_early = ending};
                const fs::path journal = gate_journal(folder / folder_of(request));
                if (harness::holds_run(journal)) {
                  outcome.report = harness::read_journal(journal).record.report();
                }
                return outcome;
              },
          .soak_s = [] { return 0.0; },
          .now_s = [] { return 0.0; },
          .why_end = [ending] { return ending; },
          .say = [](const std::string&) {}};
}

/// Adds what all phases together say about the known defects that the gate was given.
void add_known(const GateHeader& header, const std::string& place, GateReport& gate) {
  harness::Report& report = gate.report;
  const bool is_whole = report.ending == name(harness::Ending::completed) && report.not_run == 0;
  report.known = harness::known_statuses(harness::known_from_json(json(header.known), place),
                                         report.environment,
                                         report.findings,
                                         is_whole);
  report.is_strict = header.run.value("strict_known", false);
  gate.status = exit_status(report);
}

/// Whether folder_of() can return this name: a phase, or a phase, '-' and a number.
bool is_folder_of_phase(const std::string& name) {
  const std::size_t dash = std::min(name.find('-'), name.size());
  const std::optional<Phase> phase = phase_named(name.substr(0, dash));
  if (!phase) return false;
  const std::string number = name.substr(dash);
  if (*phase != Phase::device && *phase != Phase::nccl) return number.empty();
  return number.size() > 1 && number.find_first_not_of("0123456789", 1) == std::string::npos;
}

}  // namespace

fs::path gate_journal(const fs::path& folder) {
  return folder / "journal.jsonl";
}

fs::path speed_file(const fs::path& folder) {
  return folder / "bench.json";
}

std::vector<Speed> read_speeds(const fs::path& folder) {
  const fs::path path = speed_file(folder);
  const json file = harness::parse_json(harness::read_file(path));
  try {
    return speeds_of(file);
  } catch (const BadInput& bad) {
    throw BadInput(fmt::format("{}: {}", path.string(), bad.what()));
  }
}

double soaked_s(const std::vector<Answer>& answers) {
  double total = 0;
  for (const Answer& each : answers) {
    if (const auto* soak = std::get_if<SoakAnswer>(&each)) total += soak->budget_s;
  }
  return total;
}

bool is_gate(const fs::path& folder) {
  const fs::path path = gate_journal(folder);
  std::error_code unknown;
  if (!fs::exists(path, unknown)) return false;
  const std::string text = harness::read_file(path);
  const json header = harness::parse_json(text.substr(0, text.find('\n')));
  return header.is_object() && header.contains(version_field);
}

fs::path gate_of_part(const fs::path& folder) {
  std::error_code none;
  const fs::path whole = fs::weakly_canonical(folder, none);
  if (none || !is_folder_of_phase(whole.filename().string())) return {};
  if (!is_gate(whole.parent_path())) return {};
  const fs::path gate = fs::proximate(whole.parent_path(), none);
  return none ? whole.parent_path() : gate;
}

GateContent read_gate(const fs::path& folder) {
  const fs::path path = gate_journal(folder);
  std::optional<GateContent> content;
  const harness::JsonLines lines =
      harness::read_json_lines(path, [&](const ordered_json& value) { take(value, content); });
  if (!content) throw BadInput(path.string() + ": line 1: expected the header of a gate's journal");
  content->lines = lines;
  return std::move(*content);
}

GateSession::GateSession(const fs::path& folder, GateHeader header)
    : folder_(folder), file_(gate_journal(folder)) {
  content_.header = std::move(header);
  content_.environment = content_.header.environment;
  file_.truncate(0);
  file_.append(line_of(to_json(content_.header)));
}

GateSession::GateSession(const fs::path& folder, GateContent content, ordered_json environment)
    : folder_(folder), file_(gate_journal(folder)), content_(std::move(content)) {
  file_.truncate(content_.lines.whole_bytes);
  file_.append(line_of({{"resumed", environment}}));
  content_.environment = std::move(environment);
}

GateReport GateSession::run(const Hooks& live) {
  // The first report contains the output of doctor and the results of earlier sessions.
  const auto report = [this] { write_reports(folder_, report_of(folder_)); };
  report();
  Player player(
      folder_,
      content_.answers,
      live,
      [this](const Answer& answer) { file_.append(line_of(to_json(answer))); },
      report);
  return run_gate(content_.header.options, content_.header.devices, player.hooks());
}

void GateSession::end(const GateEnd& end) {
  file_.append(line_of(to_json(end)));
}

GateReport report_of(const fs::path& folder) {
  const GateContent content = read_gate(folder);
  Player player(
      folder, content.answers, report_only_hooks(folder, content), [](const Answer&) {}, [] {});
  const GateHeader& header = content.header;
  GateReport gate = run_gate(header.options, header.devices, player.hooks());
  gate.report.run = header.run;
  if (header.options.is_quick) gate.report.run["quick"] = true;
  ordered_json environment = content.environment;
  if (gate.report.environment.is_object()) environment.update(gate.report.environment);
  gate.report.environment = std::move(environment);
  if (content.end) {
    gate.report.environment["finished"] = content.end->finished;
    gate.report.environment["duration_s"] = content.end->duration_s;
  }
  if (!header.known.is_null()) add_known(header, gate_journal(folder).string() + ": known", gate);
  ordered_json said = to_json(gate);
  said["doctor"] = header.doctor;
  gate.report.environment["hardware"] = std::move(said);
  return gate;
}

void write_reports(const fs::path& folder, const GateReport& gate) {
  harness::write_report(folder, gate.report);
  harness::page::write_page(folder, gate.report);
  harness::write_file(folder / "summary.md", to_markdown(gate) + '\n' + to_markdown(gate.report));
}

}  // namespace rankcheck::cases::hardware
