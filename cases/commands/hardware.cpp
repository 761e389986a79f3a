#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"
#include "harness/base/program.hpp"
#include "harness/base/run_clock.hpp"
#include "harness/base/table.hpp"
#include "harness/known/known_defects.hpp"
#include "harness/report/journal.hpp"
#include "harness/report/text_style.hpp"
#include "harness/run/interrupt.hpp"
#include "harness/run/session.hpp"
#include "harness/search/runner.hpp"
#include "harness/suite/suite_file.hpp"

#include "cases/backends/cuda.hpp"
#include "cases/backends/nccl.hpp"
#include "cases/bench/bench.hpp"
#include "cases/commands/archive.hpp"
#include "cases/commands/cli.hpp"
#include "cases/commands/github.hpp"
#include "cases/commands/report.hpp"
#include "cases/commands/run.hpp"
#include "cases/hardware/gate_journal.hpp"
#include "cases/hardware/sanitizer.hpp"
#include "cases/hardware/speed.hpp"

/// `rankcheck run hardware`: the gate on this machine's devices.
namespace rankcheck::cases {

namespace {

namespace fs = std::filesystem;
using hardware::Phase;
using harness::BadInput;
using harness::run::journal_name;
using harness::run::RunOptions;
using harness::run::RunPlan;
using harness::run::Selection;
using harness::run::utc_now;

/// Returns the name that CUDA_VISIBLE_DEVICES gives to the device with this number.
std::string visible_name(int device) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return std::to_string(device);
  return CLI::detail::split(visible, ',').at(spec::to_size(device));
}

/// The remaining seconds of a call without a time budget.
constexpr double no_limit_s = std::numeric_limits<double>::infinity();
/// The seconds of the whole soak if there is no time budget.
constexpr double soak_default_s = 60;
/// The largest number of NCCL ranks that share a device.
constexpr int shared_ranks = 4;
/// Cases of each unit in the parts before the suites.
constexpr int few_cases = 3;
/// The bytes of a quick probe's buffers.
constexpr std::int64_t quick_bytes = std::int64_t{32} << 20;

/// Throws BadInput if a quick gate is asked to select something.
void require_no_filter(const Selection& selection) {
  Selection rest = selection;
  rest.suites.clear();
  rest.seed = std::nullopt;
  const std::string said = to_json(rest).dump();
  if (said == to_json(Selection{}).dump()) return;
  throw BadInput(fmt::format(
      "--quick: got a selection beside it, {}: expected none, because it checks links only", said));
}

/// Whether the selection includes a backend.
bool selects_backend(const Selection& selection, const std::string& backend) {
  const auto& wanted = selection.backends;
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), backend) != wanted.end();
}

/// Returns what a part of the gate checks if the whole gate checks `whole`.
Selection selection_of_part(const hardware::PhaseRequest& request, const Selection& whole) {
  Selection part = whole;
  // A part alone need not show every known defect. The gate judges them over all parts.
  part.strict_known = std::nullopt;
  const Phase phase = request.phase;
  const int few = std::min(whole.cases.value_or(few_cases), few_cases);
  if (phase == Phase::nccl || phase == Phase::sanitizer || phase == Phase::device) {
    // This suite has no forced algorithms. Most forced algorithms refuse a single rank.
    part.suites = {"smoke"};
    part.devices = std::nullopt;
    part.backends = {phase == Phase::nccl ? "nccl" : "cuda"};
  }
  if (phase == Phase::cuda) {
    part.backends = {"cuda"};
    part.cases = few;
  } else if (phase == Phase::nccl) {
    part.ranks = {request.number, request.number};
    part.cases = few;
  } else if (phase == Phase::sanitizer) {
    // The sanitizer makes everything many times slower.
    part.cases = 1;
  } else if (phase == Phase::device && selects_backend(whole, "nccl")) {
    // NCCL's ranks share the device.
    part.backends.emplace_back("nccl");
  } else if (phase == Phase::soak) {
    // The suites have checked the cases of the seed itself.
    part.seed = *whole.seed + 1;
  }
  return part;
}

/// Returns the targets whose operations are selected.
std::vector<hardware::Target> targets_of(const Selection& selection) {
  std::vector<hardware::Target> chosen;
  for (const hardware::Target& each : hardware::targets()) {
    const bool is_selected =
        each.operation == nullptr || harness::matches_any(selection.operations, each.operation);
    if (is_selected) chosen.push_back(each);
  }
  return chosen;
}

class HardwareGate {
 public:
  HardwareGate(const RunOptions& options,
               const harness::run::ThisProgram& program,
               const harness::run::Interrupt& interrupt)
      : program_(program),
        interrupt_(interrupt),
        budget_s_(options.time_budget_s),
        session_(open(options)) {
    keep_known();
    announce();
  }

  int execute() {
    harness::Journal& journal = session_.journal;
    hardware::Gate gate = hardware::gate_in(session_.folder, journal.record());
    soaked_before_s_ = gate.soaked_s();
    const std::string ending =
        run_gate(session_.folder,
                 std::move(gate),
                 journal,
                 {.probe = [&](const auto& request) { return probe(request); },
                  .keep = {},
                  .run = [&](const hardware::PhaseRequest& request) { return run(request); },
                  .soak_s = [&] { return soak_s(); },
                  .now_s = [&] { return elapsed_s(); },
                  .why_end = [&] { return why_end(); },
                  .say =
                      [this](const std::string& line) {
                        if (session_.options.quiet) return;
                        fmt::print("{}\n", line);
                        std::fflush(stdout);
                      }});
    journal.end({.ending = ending, .finished = utc_now(), .duration_s = elapsed_s()});
    return tell();
  }

 private:
  using Clock = harness::RunClock;

  [[nodiscard]] hardware::ProbeOutcome probe(const hardware::ProbeRequest& request) {
    if (is_quick_) return quick_probe(request);
    // The time includes the start of a process and the creation of its CUDA context.
    constexpr double timeout_s = 120;
    return hardware::run_probe(cuda_worker_command({"--probe", to_json(request).dump()}),
                               timeout_s,
                               session_.options.stop);
  }

  /// Probes in one process, because opening the devices takes most of the time.
  [[nodiscard]] hardware::ProbeOutcome quick_probe(const hardware::ProbeRequest& request) {
    constexpr double timeout_s = 20;
    // A driver that does not keep devices ready needs seconds for each of them.
    constexpr double opening_s = 60;
    if (!probe_worker_) {
      probe_worker_.emplace(cuda_worker_command({"--probes"}), timeout_s, opening_s);
    }
    return probe_worker_->probe(request, session_.options.stop);
  }

  [[nodiscard]] double elapsed_s() const {
    return std::chrono::duration<double>(Clock::now() - session_.start).count();
  }
  [[nodiscard]] double left_s() const { return budget_s_.value_or(no_limit_s) - elapsed_s(); }

  [[nodiscard]] std::string why_end() const {
    if (interrupt_.requested()) return name(harness::Ending::interrupted).data();
    // After the soak began, it ends by itself when the time is over.
    if (!has_soaked_ && left_s() <= 0) return name(harness::Ending::time_over).data();
    return {};
  }

  /// The soak takes the rest of this call's budget.
  double soak_s() {
    has_soaked_ = true;
    return budget_s_ ? left_s() : soak_default_s - soaked_before_s_;
  }

  [[nodiscard]] harness::run::Session open(RunOptions options) {
    options.stop.flag = &interrupt_.requested();
    // The gate must not disturb what it checks.
    options.jobs = options.jobs.value_or(1);
    return open_session(
        options,
        program_,
        [this](const RunOptions& given,
               Selection& selection,
               const harness::JournalHeader* before) { return plan(given, selection, before); });
  }

  /// Rejects all bad input before there is a folder.
  RunPlan plan(const RunOptions& options,
               Selection& selection,
               const harness::JournalHeader* before) {
    hardware::GateHeader header{.options = {.is_quick = options.quick}};
    if (before == nullptr) {
      require_options(options, selection);
    } else {
      header = header_to_resume(options, *before);
    }
    is_quick_ = header.options.is_quick;
    const std::vector<hardware::Device> devices = find_devices();
    selection.devices = static_cast<int>(devices.size());
    if (before != nullptr) require_same_devices(options, devices, header.devices);
    RunPlan plan;
    if (!is_quick_) plan = plan_suites(options, selection);
    if (before == nullptr) {
      header.devices = devices;
      if (is_quick_) header.options.bytes = quick_bytes;
      if (!is_quick_) header.options.parts = plan_parts(options, selection, plan.broken);
      if (!options.report.empty() && !options.overwrite) {
        // The gate itself comes first: nobody can resume one of its parts.
        harness::run::require_no_run(options.report);
        for (const fs::path& each : folders(options.report, header.options.parts)) {
          harness::run::require_no_run(each);
        }
      }
    }
    // A quick gate has no time for backends that it does not use. Links use CUDA, whatever the
    // suites select, so its version must not change either.
    const std::string only = is_quick_ || before != nullptr ? "cuda" : "";
    nlohmann::ordered_json doctor = examine(options.stop, only);
    for (const auto& each : doctor.at("backends")) {
      if (each.at("name") == "cuda" && each.contains("versions")) {
        plan.versions["cuda"] = each.at("versions");
      }
    }
    if (before == nullptr) header.doctor = std::move(doctor);
    // The journal of the gate has no findings of its own.
    plan.units.clear();
    plan.pinned.clear();
    plan.budget_of_session = true;
    plan.environment["hardware"] = to_json(header);
    return plan;
  }

  /// Throws BadInput if a new gate cannot be made of the options.
  static void require_options(const RunOptions& options, const Selection& selection) {
    if (selection.suites.size() != 1) {
      throw BadInput("suite: hardware: stands beside another suite, expected it alone");
    }
    if (options.overwrite && !options.quick) {
      throw BadInput(
          "--overwrite: a gate may have taken hours, so its report is not replaced: expected a new "
          "folder for --report, or --quick");
    }
    if (!options.quick) return;
    if (!options.known.empty()) {
      throw BadInput("--known: got it beside --quick, which checks links and devices only");
    }
    require_no_filter(selection);
    if (!options.overwrite || !hardware::is_gate(options.report)) return;
    const harness::Record record =
        harness::read_journal(hardware::gate_journal(options.report)).record;
    if (!hardware::gate_header(record.header()).options.is_quick) {
      throw BadInput(fmt::format("--overwrite: {}: found a whole gate, expected one with --quick",
                                 options.report));
    }
  }

  /// Throws BadInput if the gate cannot be resumed, or if one of its parts was changed.
  static hardware::GateHeader header_to_resume(const RunOptions& options,
                                               const harness::JournalHeader& before) {
    const std::string place = harness::run::place_of_resume(options.resume);
    if (!hardware::is_gate(options.resume)) {
      throw BadInput(place + "got the journal of a run, expected the folder of a gate");
    }
    hardware::GateHeader header = hardware::gate_header(before);
    if (options.quick && !header.options.is_quick) {
      throw BadInput(place + "--quick: got a gate that began without it");
    }
    for (const fs::path& part : folders(options.resume, header.options.parts)) {
      const fs::path journal = part / journal_name;
      if (!harness::holds_run(journal)) continue;
      harness::run::require_checksums(fmt::format("{}{}: ", place, part.filename().string()),
                                      harness::read_journal(journal).lines);
    }
    return header;
  }

  static void require_same_devices(const RunOptions& options,
                                   const std::vector<hardware::Device>& devices,
                                   const std::vector<hardware::Device>& before) {
    const auto is_same = [](const auto& a, const auto& b) {
      return hardware::to_json(a) == hardware::to_json(b);
    };
    if (std::equal(devices.begin(), devices.end(), before.begin(), before.end(), is_same)) return;
    const auto words_of = [](const std::vector<hardware::Device>& all) {
      return fmt::format(
          "{} devices, the first {} at {}", all.size(), all.front().name, all.front().bus);
    };
    throw BadInput(
        fmt::format("{}got {}, expected {}, as when the run began: other devices need a folder of "
                    "their own (--report)",
                    harness::run::place_of_resume(options.resume),
                    words_of(devices),
                    words_of(before)));
  }

  /// Writes the known defects into the gate's folder. All parts read them there, also when the gate
  /// is resumed.
  void keep_known() {
    const nlohmann::ordered_json& known = session_.journal.record().header().known;
    if (known.is_null()) return;
    const fs::path path = session_.folder / "known.json";
    harness::write_file(path, known.dump(2) + '\n');
    known_ = {path.string()};
  }

  /// Returns the devices of this machine. Throws BadInput if none can be used.
  std::vector<hardware::Device> find_devices() {
    const harness::run::NamedBackend cuda = program_.backends.find("cuda");
    if (!cuda.unavailable.empty()) {
      throw BadInput(fmt::format("gate hardware: backend cuda: {}", cuda.unavailable));
    }
    std::vector<hardware::Device> devices;
    const nlohmann::json said = cuda_worker().description();
    for (const nlohmann::json& each : said.at("devices")) {
      devices.push_back(hardware::device_from_json(each));
      is_hardware_ &= devices.back().is_hardware();
    }
    return devices;
  }

  /// Plans the suites. Throws BadInput if there is nothing to check or if a backend is missing. A
  /// backend that is installed but cannot be opened is a finding.
  [[nodiscard]] RunPlan plan_suites(const RunOptions& options, const Selection& selection) const {
    Selection suites = selection;
    RunPlan plan = make_plan(suites, program_.catalogue, program_.backends, options.stop);
    for (const auto& [backend, why] : plan.unavailable) {
      if (!plan.broken.contains(backend)) refuse(backend, why);
    }
    const auto& ranks = selection.ranks;
    const bool may_share = ranks.empty() || ranks.back() >= shared_ranks;
    const std::string why = why_short_of_shared_memory();
    if (!why.empty() && may_share && selects_backend(selection, "nccl")) refuse("nccl", why);
    return plan;
  }

  [[noreturn]] static void refuse(const std::string& backend, const std::string& why) {
    throw BadInput(fmt::format(
        "gate hardware: backend {}: {}; use --backend cuda to leave it out", backend, why));
  }

  /// Returns the parts between links and soak, the most informative ones first. Leaves out parts
  /// without a selected check.
  [[nodiscard]] std::vector<hardware::PhaseRequest> plan_parts(
      const RunOptions& options,
      const Selection& selection,
      const std::set<std::string>& broken) const {
    const int devices = *selection.devices;
    // NCCL uses its direct paths between devices only if no two ranks share a device.
    const int most_ranks = devices > 1 ? std::min(devices, shared_ranks) : shared_ranks;
    std::vector<hardware::PhaseRequest> all{{.phase = Phase::cuda},
                                            {.phase = Phase::nccl, .number = 1},
                                            {.phase = Phase::nccl, .number = most_ranks},
                                            {.phase = Phase::speed},
                                            {.phase = Phase::sanitizer},
                                            {.phase = Phase::suites}};
    // With one device, the suites already check it alone.
    for (int d = 0; devices > 1 && d < devices; ++d) {
      all.push_back({.phase = Phase::device, .number = d});
    }
    std::erase_if(all,
                  [&](const auto& each) { return !is_wanted(each, options, selection, broken); });
    return all;
  }

  /// Whether the selection has checks for the part. True if the backend could not be opened.
  [[nodiscard]] bool is_wanted(const hardware::PhaseRequest& part,
                               const RunOptions& options,
                               const Selection& selection,
                               const std::set<std::string>& broken) const {
    if (part.phase == Phase::suites) return true;
    const std::string backend = part.phase == Phase::nccl ? "nccl" : "cuda";
    if (!selects_backend(selection, backend)) return false;
    if (part.phase == Phase::speed) return !targets_of(selection).empty();
    const auto& ranks = selection.ranks;
    if (part.phase == Phase::nccl && !ranks.empty() &&
        (part.number < ranks.front() || part.number > ranks.back())) {
      return false;
    }
    if (broken.contains(backend)) return true;
    try {
      Selection own = selection_of_part(part, selection);
      std::ignore = make_plan(own, program_.catalogue, program_.backends, options.stop);
      return true;
    } catch (const BadInput&) {
      return false;
    }
  }

  /// Returns the folders of all phases.
  static std::vector<fs::path> folders(const fs::path& folder,
                                       const std::vector<hardware::PhaseRequest>& parts) {
    std::vector<fs::path> all{folder / hardware::folder_of({.phase = Phase::soak})};
    for (const auto& each : parts) all.push_back(folder / hardware::folder_of(each));
    return all;
  }

  void announce() const {
    if (session_.options.quiet) return;
    fmt::print("seed {}\n{}gate hardware: {} devices, report in {}\n",
               *session_.selection.seed,
               is_quick_ ? "quick " : "",
               *session_.selection.devices,
               session_.folder.string());
    std::fflush(stdout);
  }

  /// Writes the reports from the journal, as `rankcheck report` does, and packs the folder.
  int tell() {
    const hardware::GateReport gate = hardware::report_of(session_.folder);
    write_reports(session_.folder, gate);
    const bool is_short = is_quick_ || session_.options.quiet;
    fmt::print("{}{}\n", is_short ? "" : "\n", is_short ? short_text(gate) : to_markdown(gate));
    if (!is_short) {
      for (const harness::KnownStatus& each : gate.report.known) {
        fmt::print("{}\n", harness::wrapped(to_text(each), harness::text_columns_max, 2));
      }
    }
    fmt::print("report: {}\n", (session_.folder / "summary.md").string());
    const std::string hint = how_to_go_on(gate.report, session_.folder, program_.command);
    const std::string archive =
        session_.options.archive.empty()
            ? ""
            : " --archive " + harness::shell_quoted(session_.options.archive);
    if (!hint.empty()) fmt::print("{}{}\n", hint, archive);
    pack(session_.folder, session_.options.archive);
    tell_github(gate.report, notes_of(gate));
    // A signal after the end did not interrupt anything.
    const bool was_interrupted = gate.report.ending == name(harness::Ending::interrupted);
    const int status = was_interrupted ? interrupt_.exit_status() : gate.status;
    complain_if_unable(status, gate.report, session_.folder, program_.command);
    return status;
  }

  hardware::PhaseOutcome run(const hardware::PhaseRequest& request) {
    const fs::path folder = session_.folder / hardware::folder_of(request);
    if (!session_.options.quiet) fmt::print("\n{}\n", hardware::folder_of(request));
    try {
      return request.phase == Phase::speed ? measure_speeds(folder) : check(request, folder);
    } catch (const BadInput& bad) {
      // For example, a device cannot be opened alone.
      return {.broken = bad.what()};
    }
  }

  hardware::PhaseOutcome check(const hardware::PhaseRequest& request, const fs::path& folder) {
    const RunOptions& whole = session_.options;
    RunOptions options;
    options.selection = selection_of_part(request, session_.selection);
    options.timeout_s = whole.timeout_s;
    options.replays = whole.replays;
    options.known = known_;
    options.jobs = whole.jobs;
    options.fail_fast = whole.fail_fast;
    options.quiet = whole.quiet;
    options.stop = whole.stop;
    const bool has_begun = harness::holds_run(folder / journal_name);
    if (!has_begun) fs::remove(folder / journal_name);
    options.resume = has_begun ? folder.string() : "";
    options.report = has_begun ? "" : folder.string();
    std::optional<harness::EnvironmentVariable> surroundings;
    if (request.phase == Phase::device) {
      surroundings.emplace("CUDA_VISIBLE_DEVICES", visible_name(request.number));
    } else if (request.phase == Phase::sanitizer) {
      const std::string sanitizer = hardware::find_sanitizer();
      if (sanitizer.empty()) return {.skipped = "compute-sanitizer is not installed"};
      options.timeout_s = 10 * timeout_s(options);
      surroundings.emplace(cuda_launcher_variable, hardware::sanitizer_launcher(sanitizer));
    }
    if (request.phase == Phase::soak) {
      options.repeat = true;
      options.time_budget_s = request.budget_s;
    } else if (budget_s_) {
      options.stop.pause = session_.start + std::chrono::duration_cast<Clock::duration>(
                                                std::chrono::duration<double>(*budget_s_));
    }
    hardware::PhaseOutcome outcome;
    try {
      if (request.phase == Phase::sanitizer) {
        if (std::string why = why_blind(options.stop); !why.empty()) {
          return {.broken = std::move(why)};
        }
        if (!session_.options.quiet) {
          fmt::print("compute-sanitizer reports the planted write out of bounds\n");
        }
      }
      outcome.report = run_selection(options, program_, interrupt_).report;
    } catch (const harness::Interrupted&) {
      outcome.report.ending = name(harness::Ending::interrupted);
    }
    if (interrupt_.requested()) {
      outcome.ended_early = name(harness::Ending::interrupted);
    } else if (outcome.report.ending == name(harness::Ending::interrupted)) {
      outcome.ended_early = name(harness::Ending::time_over);
    }
    return outcome;
  }

  /// Returns why nobody should trust the sanitizer, which is the launcher now.
  [[nodiscard]] static std::string why_blind(const harness::StopRequest& stop) {
    constexpr double timeout_s = 120;
    return hardware::why_blind(cuda_worker_command({"--write-out-of-bounds"}), timeout_s, stop);
  }

  [[nodiscard]] hardware::PhaseOutcome measure_speeds(const fs::path& folder) {
    harness::make_folder(folder);
    bench::Options options{.backends = {"cuda"}, .json_path = hardware::speed_file(folder)};
    options.filters.clear();
    for (const auto& each : targets_of(session_.selection))
      options.filters.emplace_back(each.measurement);
    if (is_hardware_) {
      // `compare` needs the spread of several repetitions.
      options.repetitions = 5;
    } else {
      // A stand-in is slow and has little memory, and its speed has no meaning.
      options.seconds_min = 0.01;
      options.bytes = 1 << 16;
      options.frames = 16;
      options.width = 32;
    }
    options.quiet = session_.options.quiet;
    options.is_over = [this] { return !why_end().empty(); };
    options.stop = session_.options.stop;
    try {
      std::ignore = bench::measure(options);
    } catch (const harness::Interrupted&) {
      return {.ended_early = name(harness::Ending::interrupted).data()};
    }
    if (std::string why = why_end(); !why.empty()) return {.ended_early = std::move(why)};
    return {.speeds = hardware::read_speeds(folder)};
  }

  const harness::run::ThisProgram& program_;
  const harness::run::Interrupt& interrupt_;
  /// The seconds of this call. Empty if there is no limit.
  const std::optional<double> budget_s_;
  /// Whether only links are checked.
  bool is_quick_ = false;
  /// Whether all devices are hardware, not stand-ins.
  bool is_hardware_ = true;
  harness::run::Session session_;
  /// The files of known defects for the phases.
  std::vector<std::string> known_;
  /// Seconds of the soak in earlier sessions, and whether it got the rest of this call's time.
  double soaked_before_s_ = 0;
  bool has_soaked_ = false;
  std::optional<hardware::ProbeWorker> probe_worker_;
};

}  // namespace

int run_hardware(const RunOptions& options,
                 const harness::run::ThisProgram& program,
                 const harness::run::Interrupt& interrupt) {
  return HardwareGate(options, program, interrupt).execute();
}

}  // namespace rankcheck::cases
