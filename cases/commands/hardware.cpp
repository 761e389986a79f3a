#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <tuple>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "harness/journal.hpp"

#include "cases/backends/cuda.hpp"
#include "cases/catalogue.hpp"
#include "cases/commands/command.hpp"
#include "cases/commands/interrupt.hpp"
#include "cases/commands/report.hpp"
#include "cases/commands/run.hpp"
#include "cases/commands/session.hpp"
#include "cases/hardware/gate_journal.hpp"

/// `rankcheck run hardware`: the gate on this machine's devices.
namespace rankcheck::cases {

namespace {

namespace fs = std::filesystem;
using hardware::Phase;
using harness::BadInput;

/// An environment variable that children see, for as long as this lives; no other thread runs when
/// it comes and goes.
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

/// The name by which CUDA knows a device that this process sees as number `device`.
std::string visible_name(int device) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return std::to_string(device);
  return CLI::detail::split(visible, ',').at(static_cast<std::size_t>(device));
}

/// Where compute-sanitizer is; empty where it is not.
std::string find_sanitizer() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string program = folder + "/compute-sanitizer";
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

std::vector<hardware::Device> devices_here() {
  std::vector<hardware::Device> devices;
  const nlohmann::json said = cuda_worker().description();
  if (said.is_null()) return devices;
  for (const nlohmann::json& each : said.at("devices")) {
    devices.push_back(hardware::device_from_json(each));
  }
  return devices;
}

/// What the phases beside those of the suite `hardware` check.
Selection smoke_of(Selection selection, std::vector<std::string> backends = {"cuda"}) {
  selection.suites = {"smoke"};
  selection.backends = std::move(backends);
  selection.devices = std::nullopt;
  return selection;
}

/// What a device is checked with alone: NCCL too, whose ranks share it then, as they do not where
/// each has one.
std::vector<std::string> backends_of_device(const Selection& selection) {
  const auto& wanted = selection.backends;
  const bool is_wanted =
      wanted.empty() || std::find(wanted.begin(), wanted.end(), "nccl") != wanted.end();
  if (!is_wanted || !find_backend("nccl").unavailable.empty()) return {"cuda"};
  return {"cuda", "nccl"};
}

class HardwareGate {
 public:
  HardwareGate(const RunOptions& options, std::string program)
      : options_(options), program_(std::move(program)) {
    if (options.resume.empty()) {
      begin();
    } else {
      resume();
    }
    // What phases are told is the selection.
    options_.selection = selection_;
    for (std::string* each :
         {&options_.ranks, &options_.types, &options_.backends, &options_.seed}) {
      each->clear();
    }
  }

  int execute() {
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed_s = [begin] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const hardware::GateReport gate =
        session_->run({.probe = probe,
                       .run = [&](const hardware::PhaseRequest& request) { return run(request); },
                       .now_s = elapsed_s,
                       .interrupted = [&] { return interrupt_.requested().load(); },
                       .say =
                           [](const std::string& line) {
                             fmt::print("{}\n", line);
                             std::fflush(stdout);
                           }});
    session_->end({.ending = gate.report.ending, .finished = utc_now(), .duration_s = elapsed_s()});
    return tell();
  }

 private:
  static hardware::ProbeOutcome probe(const hardware::ProbeRequest& request) {
    // Includes starting a process and its context.
    constexpr double timeout_s = 120;
    return hardware::run_probe(cuda_worker_command({"--probe", to_json(request).dump()}),
                               timeout_s);
  }

  /// Everything that can be refused is, before the folder is made.
  void begin() {
    const std::string now = utc_now();
    selection_ = parse_selection(options_);
    if (selection_.suites.size() != 1) {
      throw BadInput("suite: hardware: expected no other suite beside it");
    }
    fill_defaults(selection_);
    hardware::GateHeader header;
    header.options.seed = *selection_.seed;
    header.why_no_device = find_backend("cuda").unavailable;
    if (header.why_no_device.empty()) header.devices = devices_here();
    if (!header.devices.empty()) selection_.devices = static_cast<int>(header.devices.size());
    if (options_.time_budget_s) header.options.budget_s = *options_.time_budget_s;
    const Plan plan = plan_phases(header.devices);
    folder_ = choose_folder(options_, selection_.suites);
    for (const fs::path& each : folders(header.devices)) expect_no_run(each);
    header.run = to_json(selection_);
    header.environment = environment_of(options_, plan, now);
    header.doctor = examine();
    begin_folder(folder_);
    announce(header);
    session_.emplace(folder_, std::move(header));
  }

  void resume() {
    const std::string now = utc_now();
    folder_ = options_.resume;
    const std::string place = place_of_resume(folder_);
    hardware::GateContent content = hardware::read_gate(folder_);
    const hardware::GateHeader& header = content.header;
    expect_this_version(place, header.environment);
    selection_ = selection_from_json(nlohmann::json(header.run));
    expect_unchanged(place, selection_, parse_selection(options_));
    const hardware::Options& gate = header.options;
    const double budget_s = gate.longer_s.empty() ? gate.budget_s : gate.longer_s.back();
    const double wanted_s = options_.time_budget_s.value_or(budget_s);
    if (wanted_s < budget_s) {
      throw BadInput(fmt::format("{}expected --time-budget to be {} as before, or more, got {}",
                                 place,
                                 budget_s,
                                 wanted_s));
    }
    options_.time_budget_s = wanted_s;
    complete(options_, place, header.environment);
    const std::vector<hardware::Device> devices = devices_here();
    if (words_of(devices) != words_of(header.devices)) {
      throw BadInput(fmt::format("{}expected devices to be {}, as the run began, got {}",
                                 place,
                                 words_of(header.devices),
                                 words_of(devices)));
    }
    const Plan plan = plan_phases(devices);
    announce(header);
    session_.emplace(folder_,
                     std::move(content),
                     environment_of(options_, plan, now),
                     wanted_s > budget_s ? std::optional(wanted_s) : std::nullopt);
  }

  /// The plan of the suites; throws BadInput where any phase has nothing to check.
  [[nodiscard]] Plan plan_phases(const std::vector<hardware::Device>& devices) const {
    const harness::Catalogue catalogue = make_catalogue();
    Selection suites = selection_;
    Plan plan = make_plan(suites, catalogue);
    if (!devices.empty() && !plan.unavailable.contains("cuda")) {
      Selection smoke = smoke_of(selection_);
      std::ignore = make_plan(smoke, catalogue);
    }
    return plan;
  }

  /// Of the gate and all its phases.
  [[nodiscard]] std::vector<fs::path> folders(const std::vector<hardware::Device>& devices) const {
    std::vector<fs::path> all{folder_};
    for (const Phase each : {Phase::suites, Phase::soak, Phase::sanitizer}) {
      all.push_back(folder_ / hardware::folder_of({.phase = each}));
    }
    for (int d = 0; d < static_cast<int>(devices.size()); ++d) {
      all.push_back(folder_ / hardware::folder_of({.phase = Phase::device, .device = d}));
    }
    return all;
  }

  static std::string words_of(const std::vector<hardware::Device>& devices) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const hardware::Device& each : devices) all.push_back(to_json(each));
    return all.dump();
  }

  void announce(const hardware::GateHeader& header) const {
    fmt::print("seed {}\ngate hardware: {} devices, report in {}\n",
               header.options.seed,
               header.devices.size(),
               folder_.string());
    if (!header.why_no_device.empty()) fmt::print("skipped: {}\n", header.why_no_device);
    std::fflush(stdout);
  }

  /// Renders the reports from the journal, as `rankcheck report` does.
  int tell() {
    const hardware::GateReport gate = hardware::report_of(folder_);
    write_reports(folder_, gate);
    fmt::print("\n{}\nreport: {}\n", to_markdown(gate), (folder_ / "summary.md").string());
    const std::string hint = how_to_go_on(gate.report, folder_);
    if (!hint.empty()) fmt::print("{}\n", hint);
    // A signal that came when all was done has interrupted nothing.
    return gate.report.ending == "interrupted" ? interrupt_.exit_status() : gate.status;
  }

  hardware::PhaseOutcome run(const hardware::PhaseRequest& request) {
    RunOptions options = options_;
    const fs::path folder = folder_ / hardware::folder_of(request);
    const bool has_begun = harness::holds_run(folder / journal_name);
    if (!has_begun) fs::remove(folder / journal_name);
    options.resume = has_begun ? folder.string() : "";
    options.report = has_begun ? "" : folder.string();
    options.time_budget_s = std::nullopt;
    std::optional<Variable> surroundings;
    switch (request.phase) {
      case Phase::suites:
        break;
      case Phase::device:
        options.selection = smoke_of(selection_, backends_of_device(selection_));
        surroundings.emplace("CUDA_VISIBLE_DEVICES", visible_name(request.device));
        break;
      case Phase::soak:
        options.repeat = true;
        options.time_budget_s = request.budget_s;
        // The suites have checked the cases of the seed itself.
        options.selection.seed = *selection_.seed + 1;
        break;
      case Phase::sanitizer: {
        const std::string sanitizer = find_sanitizer();
        if (sanitizer.empty()) return {.skipped = "compute-sanitizer is not installed"};
        options.selection = smoke_of(selection_);
        options.selection.cases = 3;
        // It runs many times slower.
        options.timeout_s = 10 * timeout_s(options);
        surroundings.emplace(cuda_launcher_variable, sanitizer + " --error-exitcode 86");
        break;
      }
    }
    fmt::print("\n{}\n", hardware::folder_of(request));
    try {
      RunOutcome run = run_selection(options, program_, interrupt_);
      return {.status = run.status, .report = std::move(run.report)};
    } catch (const BadInput& bad) {
      // Of a device that cannot be opened alone, say.
      return {.status = status_unable, .broken = bad.what()};
    }
  }

  RunOptions options_;
  std::string program_;
  Selection selection_;
  fs::path folder_;
  std::optional<hardware::GateSession> session_;
  /// From the begin of the gate to its end: between parts nobody else listens.
  Interrupt interrupt_;
};

}  // namespace

int run_hardware(const RunOptions& options, const std::string& program) {
  return HardwareGate(options, program).execute();
}

}  // namespace rankcheck::cases
