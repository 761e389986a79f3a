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
#include "harness/base/run_clock.hpp"
#include "harness/base/table.hpp"
#include "harness/known/known_defects.hpp"
#include "harness/report/journal.hpp"
#include "harness/report/text_style.hpp"
#include "harness/run/interrupt.hpp"
#include "harness/run/session.hpp"
#include "harness/search/runner.hpp"

#include "cases/backends/cuda.hpp"
#include "cases/backends/nccl.hpp"
#include "cases/bench/bench.hpp"
#include "cases/commands/archive.hpp"
#include "cases/commands/cli.hpp"
#include "cases/commands/github.hpp"
#include "cases/commands/hardware_parts.hpp"
#include "cases/commands/report.hpp"
#include "cases/commands/run.hpp"
#include "cases/hardware/gate_journal.hpp"
#include "cases/hardware/sanitizer.hpp"

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

/// Sets an environment variable for child processes as long as this object lives. No other thread
/// may run while the object is created or destroyed.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

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

class HardwareGate {
 public:
  HardwareGate(const RunOptions& options,
               const harness::run::ThisProgram& program,
               const harness::run::Interrupt& interrupt)
      : options_(options), program_(program), interrupt_(interrupt) {
    options_.stop.flag = &interrupt.requested();
    // The gate must not disturb what it checks.
    options_.jobs = options_.jobs.value_or(1);
    if (options.resume.empty()) {
      begin();
    } else {
      resume();
    }
    // Phases get the selection and no options beside it.
    options_.selection = selection_;
    for (std::string* each : {&options_.ranks, &options_.seed}) each->clear();
    for (std::vector<std::string>* each : {&options_.operations,
                                           &options_.algorithms,
                                           &options_.properties,
                                           &options_.types,
                                           &options_.backends}) {
      each->clear();
    }
    options_.strict_known = false;
  }

  int execute() {
    const hardware::GateReport gate =
        session_->run({.probe = [&](const auto& request) { return probe(request); },
                       .run = [&](const hardware::PhaseRequest& request) { return run(request); },
                       .soak_s = [&] { return soak_s(); },
                       .now_s = [&] { return elapsed_s(); },
                       .why_end = [&] { return why_end(); },
                       .say =
                           [this](const std::string& line) {
                             if (options_.quiet) return;
                             fmt::print("{}\n", line);
                             std::fflush(stdout);
                           }});
    session_->end({.ending = gate.report.ending, .finished = utc_now(), .duration_s = elapsed_s()});
    return tell();
  }

 private:
  using Clock = harness::RunClock;

  [[nodiscard]] hardware::ProbeOutcome probe(const hardware::ProbeRequest& request) {
    if (is_quick_) return quick_probe(request);
    // The time includes the start of a process and the creation of its CUDA context.
    constexpr double timeout_s = 120;
    return hardware::run_probe(
        cuda_worker_command({"--probe", to_json(request).dump()}), timeout_s, options_.stop);
  }

  /// Probes in one process, because opening the devices takes most of the time.
  [[nodiscard]] hardware::ProbeOutcome quick_probe(const hardware::ProbeRequest& request) {
    constexpr double timeout_s = 20;
    // A driver that does not keep devices ready needs seconds for each of them.
    constexpr double opening_s = 60;
    if (!probe_worker_) {
      probe_worker_.emplace(cuda_worker_command({"--probes"}), timeout_s, opening_s);
    }
    return probe_worker_->probe(request, options_.stop);
  }

  [[nodiscard]] double elapsed_s() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  [[nodiscard]] double left_s() const { return budget_s_.value_or(no_limit_s) - elapsed_s(); }

  [[nodiscard]] std::string why_end() const {
    if (interrupt_.requested()) return name(harness::Ending::interrupted).data();
    // After the soak began, it ends by itself when the time is over.
    if (!has_soaked_ && left_s() <= 0) return name(harness::Ending::time_over).data();
    return {};
  }

  /// The soak takes the rest of this call's budget, once.
  double soak_s() {
    if (std::exchange(has_soaked_, true)) return 0;
    return budget_s_ ? left_s() : soak_default_s - soaked_before_s_;
  }

  /// Rejects all bad input before it makes the folder.
  void begin() {
    const std::string now = utc_now();
    selection_ = parse_selection(options_);
    if (selection_.suites.size() != 1) {
      throw BadInput("suite: hardware: stands beside another suite, expected it alone");
    }
    is_quick_ = options_.quick;
    if (options_.overwrite && !is_quick_) {
      throw BadInput(
          "--overwrite: a gate may have taken hours, so its report is not replaced: expected a new "
          "folder for --report, or --quick");
    }
    if (is_quick_ && !options_.known.empty()) {
      throw BadInput("--known: got it beside --quick, which checks links and devices only");
    }
    if (is_quick_) require_no_filter(selection_);
    fill_defaults(selection_);
    hardware::GateHeader header;
    header.known = harness::read_known_files(options_.known, program_.catalogue);
    header.options.seed = *selection_.seed;
    header.devices = find_devices();
    selection_.devices = static_cast<int>(header.devices.size());
    RunPlan plan;
    if (is_quick_) {
      header.options.is_quick = true;
      header.options.bytes = quick_bytes;
    } else {
      plan = plan_suites();
      header.options.parts = plan_parts(*selection_.devices, plan.broken);
    }
    folder_ = choose_folder(options_, selection_.suites);
    if (!options_.overwrite) {
      for (const fs::path& each : folders(header.options.parts)) harness::run::require_no_run(each);
    }
    header.run = to_json(selection_);
    header.doctor = examine_what_is_used();
    if (is_quick_) add_versions(header.doctor, plan);
    header.environment = environment_of(program_, options_, plan, now);
    if (options_.overwrite) remove_quick_gate();
    harness::run::begin_folder(folder_);
    keep_known(header);
    announce(header);
    session_.emplace(folder_, std::move(header));
  }

  /// Removes what an earlier quick gate wrote. Whole gates are kept.
  void remove_quick_gate() const {
    if (hardware::is_gate(folder_) && !hardware::read_gate(folder_).header.options.is_quick) {
      throw BadInput(fmt::format("--overwrite: {}: found a whole gate, expected one with --quick",
                                 folder_.string()));
    }
    harness::run::remove_run(folder_);
  }

  void resume() {
    const std::string now = utc_now();
    folder_ = options_.resume;
    const std::string place = harness::run::place_of_resume(folder_);
    hardware::GateContent content = hardware::read_gate(folder_);
    const hardware::GateHeader& header = content.header;
    require_this_version(program_, place, header.environment);
    is_quick_ = header.options.is_quick;
    if (options_.quick && !is_quick_) {
      throw BadInput(place + "--quick: got a gate that began without it");
    }
    harness::run::require_checksums(place, content.lines);
    for (const fs::path& part : folders(header.options.parts)) require_whole_journal(place, part);
    selection_ = harness::run::selection_from_json(nlohmann::json(header.run));
    require_unchanged(place, selection_, parse_selection(options_));
    complete(options_, place, header.environment);
    const bool has_same_known =
        options_.known.empty() ||
        nlohmann::json(harness::read_known_files(options_.known, program_.catalogue)) ==
            nlohmann::json(header.known);
    if (!has_same_known) {
      throw BadInput(place +
                     "--known: got other known defects, expected those with which the run began");
    }
    // The time budget applies to this call, not to the whole gate.
    options_.time_budget_s = budget_s_;
    const std::vector<hardware::Device> devices = find_devices();
    if (json_of(devices) != json_of(header.devices)) {
      throw BadInput(
          fmt::format("{}got {}, expected {}, as when the run began: other devices need a folder "
                      "of their own (--report)",
                      place,
                      words_of(devices),
                      words_of(header.devices)));
    }
    require_same_libraries(place, header.doctor);
    RunPlan plan;
    if (is_quick_) {
      add_versions(header.doctor, plan);
    } else {
      plan = plan_suites();
    }
    soaked_before_s_ = hardware::soaked_s(content.answers);
    keep_known(header);
    announce(header);
    session_.emplace(folder_, std::move(content), environment_of(program_, options_, plan, now));
  }

  /// Writes the known defects into the gate's folder. All parts read them there, also when the gate
  /// is resumed.
  void keep_known(const hardware::GateHeader& header) {
    options_.known.clear();
    if (header.known.is_null()) return;
    const fs::path path = folder_ / "known.json";
    harness::write_file(path, header.known.dump(2) + '\n');
    options_.known = {path.string()};
  }

  /// Throws BadInput if the journal of a part was changed after it was written.
  static void require_whole_journal(const std::string& place, const fs::path& part) {
    const fs::path journal = part / journal_name;
    if (hardware::is_gate(part) || !harness::holds_run(journal)) return;
    harness::run::require_checksums(fmt::format("{}{}: ", place, part.filename().string()),
                                    harness::read_journal(journal).lines);
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
  [[nodiscard]] RunPlan plan_suites() const {
    Selection suites = selection_;
    RunPlan plan = make_plan(suites, program_.catalogue, program_.backends, options_.stop);
    for (const auto& [backend, why] : plan.unavailable) {
      if (!plan.broken.contains(backend)) refuse(backend, why);
    }
    const auto& ranks = selection_.ranks;
    const bool may_share = ranks.empty() || ranks.back() >= shared_ranks;
    const std::string why = why_short_of_shared_memory();
    if (!why.empty() && may_share && selects_backend(selection_, "nccl")) refuse("nccl", why);
    return plan;
  }

  [[noreturn]] static void refuse(const std::string& backend, const std::string& why) {
    throw BadInput(fmt::format(
        "gate hardware: backend {}: {}; use --backend cuda to leave it out", backend, why));
  }

  /// Returns the parts between links and soak, the most informative ones first. Leaves out parts
  /// without a selected check.
  [[nodiscard]] std::vector<hardware::PhaseRequest> plan_parts(
      int devices, const std::set<std::string>& broken) const {
    // NCCL uses its direct paths between devices only if no two ranks share a device.
    const int most_ranks = devices > 1 ? std::min(devices, shared_ranks) : shared_ranks;
    std::vector<hardware::PhaseRequest> all{{.phase = Phase::cuda},
                                            {.phase = Phase::nccl, .ranks = 1},
                                            {.phase = Phase::nccl, .ranks = most_ranks},
                                            {.phase = Phase::speed},
                                            {.phase = Phase::sanitizer},
                                            {.phase = Phase::suites}};
    // With one device, the suites already check it alone.
    for (int d = 0; devices > 1 && d < devices; ++d) {
      all.push_back({.phase = Phase::device, .device = d});
    }
    std::erase_if(all, [&](const auto& each) { return !is_wanted(each, broken); });
    return all;
  }

  /// Whether the selection has checks for the part. True if the backend could not be opened.
  [[nodiscard]] bool is_wanted(const hardware::PhaseRequest& part,
                               const std::set<std::string>& broken) const {
    if (part.phase == Phase::suites) return true;
    const std::string backend = part.phase == Phase::nccl ? "nccl" : "cuda";
    if (!selects_backend(selection_, backend)) return false;
    if (part.phase == Phase::speed) return !targets_of(selection_).empty();
    const auto& ranks = selection_.ranks;
    if (part.phase == Phase::nccl && !ranks.empty() &&
        (part.ranks < ranks.front() || part.ranks > ranks.back())) {
      return false;
    }
    if (broken.contains(backend)) return true;
    try {
      Selection selection = selection_of_part(part, selection_);
      std::ignore = make_plan(selection, program_.catalogue, program_.backends, options_.stop);
      return true;
    } catch (const BadInput&) {
      return false;
    }
  }

  /// Returns the folders of the gate and of all its phases.
  [[nodiscard]] std::vector<fs::path> folders(
      const std::vector<hardware::PhaseRequest>& parts) const {
    std::vector<fs::path> all{folder_, folder_ / hardware::folder_of({.phase = Phase::soak})};
    for (const auto& each : parts) all.push_back(folder_ / hardware::folder_of(each));
    return all;
  }

  static nlohmann::ordered_json json_of(const std::vector<hardware::Device>& devices) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const hardware::Device& each : devices) all.push_back(hardware::to_json(each));
    return all;
  }
  static std::string words_of(const std::vector<hardware::Device>& devices) {
    return fmt::format("{} devices, the first {} at {}",
                       devices.size(),
                       devices.front().name,
                       devices.front().bus);
  }

  /// Returns what the doctor says. A quick gate has no time for backends that it does not use.
  [[nodiscard]] nlohmann::ordered_json examine_what_is_used() const {
    return is_quick_ ? examine_only("cuda", options_.stop) : examine(options_.stop);
  }

  /// Takes the versions from the doctor, because no backend is opened to ask for them.
  static void add_versions(const nlohmann::ordered_json& doctor, RunPlan& plan) {
    for (const auto& each : doctor.at("backends")) {
      if (each.contains("versions")) plan.versions[each.at("name")] = each.at("versions");
    }
  }

  /// Throws BadInput if a backend has other versions than when the gate began.
  void require_same_libraries(const std::string& place, const nlohmann::ordered_json& doctor) {
    const auto versions = [](const nlohmann::ordered_json& of) {
      std::map<std::string, nlohmann::ordered_json> all;
      for (const auto& each : of.at("backends"))
        all[each.at("name")] = each.value("versions", nlohmann::ordered_json());
      return all;
    };
    const auto before = versions(doctor);
    const auto now = versions(examine_what_is_used());
    for (const char* backend : {"cuda", "nccl"}) {
      if (is_quick_ && !before.contains(backend)) continue;
      for (const auto& [key, value] : before.at(backend).items()) {
        const std::string was = value.dump();
        const std::string is = now.at(backend).value(key, nlohmann::ordered_json()).dump();
        if (was == is) continue;
        throw BadInput(
            fmt::format("{}backend {}: got {}, expected {} to be {}, as when the run began: other "
                        "libraries need a folder of their own (--report)",
                        place,
                        backend,
                        is,
                        key,
                        was));
      }
    }
  }

  void announce(const hardware::GateHeader& header) const {
    if (options_.quiet) return;
    fmt::print("seed {}\n{}gate hardware: {} devices, report in {}\n",
               header.options.seed,
               is_quick_ ? "quick " : "",
               header.devices.size(),
               folder_.string());
    std::fflush(stdout);
  }

  /// Writes the reports from the journal, as `rankcheck report` does, and packs the folder.
  int tell() {
    const hardware::GateReport gate = hardware::report_of(folder_);
    write_reports(folder_, gate);
    const bool is_short = is_quick_ || options_.quiet;
    fmt::print("{}{}\n", is_short ? "" : "\n", is_short ? short_text(gate) : to_markdown(gate));
    if (!is_short) {
      for (const harness::KnownStatus& each : gate.report.known) {
        fmt::print("{}\n", harness::wrapped(to_text(each), harness::text_columns_max, 2));
      }
    }
    fmt::print("report: {}\n", (folder_ / "summary.md").string());
    const std::string hint = how_to_go_on(gate.report, folder_, program_.command);
    const std::string archive =
        options_.archive.empty() ? "" : " --archive " + harness::shell_quoted(options_.archive);
    if (!hint.empty()) fmt::print("{}{}\n", hint, archive);
    pack(folder_, options_.archive);
    tell_github(gate.report, notes_of(gate));
    // A signal after the end did not interrupt anything.
    const bool was_interrupted = gate.report.ending == name(harness::Ending::interrupted);
    const int status = was_interrupted ? interrupt_.exit_status() : gate.status;
    complain_if_unable(status, gate.report, folder_, program_.command);
    return status;
  }

  hardware::PhaseOutcome run(const hardware::PhaseRequest& request) {
    const fs::path folder = folder_ / hardware::folder_of(request);
    if (!options_.quiet) fmt::print("\n{}\n", hardware::folder_of(request));
    try {
      return request.phase == Phase::speed ? measure_speeds(folder) : check(request, folder);
    } catch (const BadInput& bad) {
      // For example, a device cannot be opened alone.
      return {.broken = bad.what()};
    }
  }

  hardware::PhaseOutcome check(const hardware::PhaseRequest& request, const fs::path& folder) {
    RunOptions options = options_;
    options.selection = selection_of_part(request, selection_);
    options.archive.clear();
    options.time_budget_s = std::nullopt;
    const bool has_begun = harness::holds_run(folder / journal_name);
    if (!has_begun) fs::remove(folder / journal_name);
    options.resume = has_begun ? folder.string() : "";
    options.report = has_begun ? "" : folder.string();
    std::optional<Variable> surroundings;
    if (request.phase == Phase::device) {
      surroundings.emplace("CUDA_VISIBLE_DEVICES", visible_name(request.device));
    } else if (request.phase == Phase::sanitizer) {
      const std::string sanitizer = hardware::find_sanitizer();
      if (sanitizer.empty()) return {.skipped = "compute-sanitizer is not installed"};
      options.timeout_s = 10 * timeout_s(options);
      surroundings.emplace(cuda_launcher_variable, hardware::sanitizer_launcher(sanitizer));
    }
    if (request.phase == Phase::soak) {
      options.repeat = true;
      // A call that resumes a soak may have less time than the soak was given.
      constexpr double least_s = 0.001;
      options.time_budget_s =
          std::min(request.budget_s, spent_s(folder) + std::max(left_s(), least_s));
    } else if (budget_s_) {
      options.stop.pause = start_ + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(*budget_s_));
    }
    hardware::PhaseOutcome outcome;
    try {
      if (request.phase == Phase::sanitizer) {
        if (std::string why = why_blind(options.stop); !why.empty()) {
          return {.broken = std::move(why)};
        }
        if (!options_.quiet) {
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

  /// Returns the seconds that earlier sessions of a phase took.
  static double spent_s(const fs::path& folder) {
    const fs::path journal = folder / journal_name;
    if (!harness::holds_run(journal)) return 0;
    return harness::read_journal(journal).record.spent_s();
  }

  [[nodiscard]] hardware::PhaseOutcome measure_speeds(const fs::path& folder) {
    harness::make_folder(folder);
    bench::Options options{.backends = {"cuda"}, .json_path = hardware::speed_file(folder)};
    options.filters.clear();
    for (const auto& each : targets_of(selection_)) options.filters.emplace_back(each.measurement);
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
    options.quiet = options_.quiet;
    options.is_over = [this] { return !why_end().empty(); };
    options.stop = options_.stop;
    try {
      std::ignore = bench::measure(options);
    } catch (const harness::Interrupted&) {
      return {.ended_early = name(harness::Ending::interrupted).data()};
    }
    if (std::string why = why_end(); !why.empty()) return {.ended_early = std::move(why)};
    return {.speeds = hardware::read_speeds(folder)};
  }

  RunOptions options_;
  const harness::run::ThisProgram& program_;
  Clock::time_point start_ = Clock::now();
  /// The seconds of this call. Empty if there is no limit.
  std::optional<double> budget_s_ = options_.time_budget_s;
  double soaked_before_s_ = 0;
  /// Whether all devices are hardware, not stand-ins.
  bool is_hardware_ = true;
  /// Whether the soak already got the rest of this call's time.
  bool has_soaked_ = false;
  /// Whether only links are checked.
  bool is_quick_ = false;
  std::optional<hardware::ProbeWorker> probe_worker_;
  Selection selection_;
  fs::path folder_;
  std::optional<hardware::GateSession> session_;
  const harness::run::Interrupt& interrupt_;
};

}  // namespace

int run_hardware(const RunOptions& options,
                 const harness::run::ThisProgram& program,
                 const harness::run::Interrupt& interrupt) {
  return HardwareGate(options, program, interrupt).execute();
}

}  // namespace rankcheck::cases
