#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/report.hpp"

#include "cases/hardware/exposure.hpp"
#include "cases/hardware/probe.hpp"

/// The gate for new hardware, `rankcheck run hardware`: suites on all devices together and on each
/// alone, every link, a soak, a sanitizer, and one verdict for each device and each link.
namespace rankcheck::cases::hardware {

/// A part of the gate that runs suites, and its name in reports.
enum class Phase : std::uint8_t {
  /// The suite `hardware` on all devices.
  suites,
  /// The suite `smoke` on one device alone.
  device,
  /// The suite `hardware` with other cases, over and over.
  soak,
  /// The suite `smoke` under compute-sanitizer.
  sanitizer,
};

[[nodiscard]] std::string_view name(Phase phase);
/// Empty where no phase has that name.
[[nodiscard]] std::optional<Phase> phase_named(std::string_view name);

/// A phase as the gate asks for it.
struct PhaseRequest {
  Phase phase = Phase::suites;
  /// Physical device, of Phase::device.
  int device = 0;
  /// Seconds, of Phase::soak.
  double budget_s = 0;
};

struct PhaseOutcome {
  /// Of the run: 128 and more where it was interrupted.
  int status = 0;
  harness::Report report = {};
  /// Why nothing was run; empty where something was.
  std::string skipped = {};
  /// Why nothing could be run that should have been, likewise.
  std::string broken = {};
};

/// What the gate needs of its surroundings.
struct Hooks {
  std::function<ProbeOutcome(const ProbeRequest&)> probe;
  std::function<PhaseOutcome(const PhaseRequest&)> run;
  /// Since some time ago; need not pass but while something is probed or run.
  std::function<double()> now_s;
  /// True when the user wants it to end.
  std::function<bool()> interrupted;
  /// A line for the user.
  std::function<void(const std::string&)> say;
};

struct Options {
  std::uint64_t seed = 1;
  /// Of the soak, half of it for links and half for suites.
  double budget_s = 60;
  /// Of the soak once it was to go on for longer, each above what was before it.
  std::vector<double> longer_s = {};
  /// Of a probe's buffers.
  std::int64_t bytes = std::int64_t{256} << 20;
};

/// One way over one link, and all that probes told of it.
struct Link {
  int from = 0;
  int to = 0;
  gpu::cuda::Method method = gpu::cuda::Method::copy;
  gpu::cuda::Way way = gpu::cuda::Way::unknown;
  harness::Finding finding = {};
  Exposure exposure = {};
  std::int64_t lost_sources = 0;
  /// Of every move of the first round, where nothing else runs.
  std::vector<double> seconds = {};

  /// 10^9 bytes copied a second, at the median; 0 where nothing was moved.
  [[nodiscard]] double gigabytes_per_s() const;
};

/// A physical device and what all phases say of it.
struct DeviceVerdict {
  Device device = {};
  /// Never passed where the device is no hardware.
  harness::Verdict verdict = harness::Verdict::passed;
  std::string reason = {};
  /// Of what its own memory held and moved.
  Exposure exposure = {};
};

struct PhaseSummary {
  std::string name;
  harness::Verdict verdict = harness::Verdict::passed;
  std::string reason = {};
  std::int64_t cases = 0;
  std::int64_t compared_bytes = 0;
  /// Whether anything was run that passed or failed.
  bool has_judged = false;
};

/// What the gate found.
struct GateReport {
  /// Findings of all phases, and one for each link and method. Its run and environment are the
  /// caller's.
  harness::Report report;
  std::vector<DeviceVerdict> devices;
  std::vector<Link> links;
  std::vector<PhaseSummary> phases;
  /// Over all links.
  Exposure exposure;
  /// Cases of all suites, and findings among them that are red.
  std::int64_t cases = 0;
  std::int64_t failures = 0;
  /// Whether every device is one; bounds on error rates are of hardware alone.
  [[nodiscard]] bool is_of_hardware() const;
  /// The report's exit status: 0 only where all that the gate is made of was run and held.
  int status = 0;
};

/// Runs the gate. Without devices everything is skipped, for the reason `why_no_device`, and the
/// status is 2.
[[nodiscard]] GateReport run_gate(const Options& options,
                                  const std::vector<Device>& devices,
                                  const std::string& why_no_device,
                                  const Hooks& hooks);

/// For report.json's environment.
[[nodiscard]] nlohmann::ordered_json to_json(const GateReport& gate);
/// For people: verdicts, speeds, exposure.
[[nodiscard]] std::string to_markdown(const GateReport& gate);

}  // namespace rankcheck::cases::hardware
