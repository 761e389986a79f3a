#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "harness/files.hpp"

#include "cases/backends/cuda.hpp"
#include "cases/commands/command.hpp"
#include "cases/commands/interrupt.hpp"
#include "cases/commands/run.hpp"
#include "cases/commands/session.hpp"
#include "cases/hardware/gate.hpp"

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
    devices.push_back({.name = each.at("name"),
                       .bus = each.at("bus"),
                       .capability = each.at("capability"),
                       .memory_bytes = each.at("memory_bytes")});
  }
  return devices;
}

class HardwareGate {
 public:
  HardwareGate(const RunOptions& options, std::string program)
      : options_(options), program_(std::move(program)), selection_(parse_selection(options)) {
    if (selection_.suites.size() != 1) {
      throw BadInput("suite: hardware: expected no other suite beside it");
    }
    if (!options.resume.empty()) {
      throw BadInput("--resume: " + options.resume +
                     ": the gate cannot go on with another one: give it a folder with --report");
    }
    for (const std::string& each : selection_.backends) require_backend(each);
    folder_ = choose_folder(options, selection_.suites);
    if (fs::exists(folder_ / "report.json")) {
      throw BadInput("--report: " + folder_.string() + ": holds a run: choose another folder");
    }
    fill_defaults(selection_);
  }

  int execute() {
    harness::make_folder(folder_);
    const std::string why = find_backend("cuda").unavailable;
    const std::vector<hardware::Device> devices =
        why.empty() ? devices_here() : std::vector<hardware::Device>();
    fmt::print("seed {}\ngate hardware: {} devices, report in {}\n",
               *selection_.seed,
               devices.size(),
               folder_.string());
    if (!why.empty()) fmt::print("skipped: {}\n", why);
    interrupt_.emplace();
    hardware::Options gate_options{.seed = *selection_.seed};
    if (options_.time_budget_s) gate_options.budget_s = *options_.time_budget_s;
    const auto begin = std::chrono::steady_clock::now();
    hardware::GateReport gate = hardware::run_gate(
        gate_options,
        devices,
        why,
        {.probe =
             [&](const hardware::ProbeRequest& request) {
               return run_probe(cuda_worker().path, request, probe_timeout_s);
             },
         .run = [&](const hardware::PhaseRequest& request) { return run(request); },
         .now_s =
             [begin] {
               const std::chrono::duration<double> now = std::chrono::steady_clock::now() - begin;
               return now.count();
             },
         .interrupted = [&] { return interrupt_->requested().load(); },
         .say =
             [](const std::string& line) {
               fmt::print("{}\n", line);
               std::fflush(stdout);
             }});
    return write(gate);
  }

 private:
  /// Includes starting a process and its context.
  static constexpr double probe_timeout_s = 120;

  int write(hardware::GateReport& gate) {
    nlohmann::ordered_json said = to_json(gate);
    said["doctor"] = examine();
    gate.report.environment["hardware"] = std::move(said);
    harness::write_report(folder_, gate.report);
    const std::string summary = to_markdown(gate);
    harness::write_file(folder_ / "summary.md", summary + '\n' + to_markdown(gate.report));
    fmt::print("\n{}\nreport: {}\n", summary, (folder_ / "summary.md").string());
    const int interrupted = std::max(interrupt_->exit_status(), interrupted_status_);
    return interrupted > 0 ? interrupted : gate.status;
  }

  hardware::PhaseOutcome run(const hardware::PhaseRequest& request) {
    RunOptions options = options_;
    options.report = (folder_ / folder_of(request)).string();
    options.time_budget_s = std::nullopt;
    std::optional<Variable> surroundings;
    switch (request.phase) {
      case Phase::suites:
        break;
      case Phase::device:
        options.selection.suites = {"smoke"};
        options.backends = "cuda";
        surroundings.emplace("CUDA_VISIBLE_DEVICES", visible_name(request.device));
        break;
      case Phase::soak:
        options.repeat = true;
        options.time_budget_s = request.budget_s;
        // The suites have checked the cases of the seed itself.
        options.seed = std::to_string(*selection_.seed + 1);
        break;
      case Phase::sanitizer: {
        const std::string sanitizer = find_sanitizer();
        if (sanitizer.empty()) return {.skipped = "compute-sanitizer is not installed"};
        options.selection.suites = {"smoke"};
        options.selection.cases = 3;
        options.backends = "cuda";
        // It runs many times slower.
        options.timeout_s = 10 * timeout_s(options);
        surroundings.emplace(cuda_launcher_variable, sanitizer + " --error-exitcode 86");
        break;
      }
    }
    fmt::print("\n{}\n", folder_of(request));
    // A run has an interrupt of its own.
    interrupt_.reset();
    RunOutcome outcome = run_selection(options, program_);
    interrupt_.emplace();
    if (outcome.status >= 128) interrupted_status_ = outcome.status;
    return {.status = outcome.status, .report = std::move(outcome.report)};
  }

  static std::string folder_of(const hardware::PhaseRequest& request) {
    const std::string word(name(request.phase));
    return request.phase == Phase::device ? fmt::format("{}-{}", word, request.device) : word;
  }

  const RunOptions& options_;
  std::string program_;
  Selection selection_;
  fs::path folder_;
  std::optional<Interrupt> interrupt_;
  int interrupted_status_ = 0;
};

}  // namespace

int run_hardware(const RunOptions& options, const std::string& program) {
  return HardwareGate(options, program).execute();
}

}  // namespace rankcheck::cases
