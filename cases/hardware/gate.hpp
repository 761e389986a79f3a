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
#include "cases/hardware/speed.hpp"

/// The gate for new hardware, `rankcheck run hardware`: every link, suites on all devices together
/// and on each alone, speeds, a sanitizer, a soak, and one verdict for each device and each link.
/// cases/hardware/README.md is the page for its users.
namespace rankcheck::cases::hardware {

/// A part of the gate beside its links, and its name in reports. The order is that of the gate:
/// what tells most comes first.
enum class Phase : std::uint8_t {
  /// The suite `hardware` on cuda alone, with few cases of each unit.
  cuda,
  /// The suite `smoke` on nccl alone, with a fixed number of ranks and few cases of each unit.
  nccl,
  /// The measurements that have a target, by `rankcheck bench`.
  speed,
  /// The suite `smoke` on cuda under compute-sanitizer, with a case of each unit.
  sanitizer,
  /// The suite `hardware` on all devices.
  suites,
  /// The suite `smoke` on one device alone.
  device,
  /// The suite `hardware` with other cases, over and over.
  soak,
};

[[nodiscard]] std::string_view name(Phase phase);
/// Empty where no phase has that name.
[[nodiscard]] std::optional<Phase> phase_named(std::string_view name);

/// A phase as the gate asks for it.
struct PhaseRequest {
  Phase phase = Phase::suites;
  /// The physical device of Phase::device.
  int device = 0;
  /// The ranks of Phase::nccl.
  int ranks = 0;
  /// Seconds of Phase::soak, those of earlier sessions included.
  double budget_s = 0;
};

/// The folder of a phase's run, below that of the gate.
[[nodiscard]] std::string folder_of(const PhaseRequest& request);

struct PhaseOutcome {
  /// The name of the ending of a phase that did not come to its end, as harness::Ending has it:
  /// "interrupted" or "time_over". Empty for one that did; a soak does when its time is over.
  std::string ended_early = {};
  harness::Report report = {};
  /// What Phase::speed measured.
  std::vector<Speed> speeds = {};
  /// Why nothing was run; empty where something was.
  std::string skipped = {};
  /// Why nothing could be run that should have been; empty where something was.
  std::string broken = {};
};

/// What the gate needs of its surroundings.
struct Hooks {
  std::function<ProbeOutcome(const ProbeRequest&)> probe;
  std::function<PhaseOutcome(const PhaseRequest&)> run;
  /// Seconds that the soak may take now; 0 where it may take none. The gate asks until it gets 0.
  std::function<double()> soak_s;
  /// Seconds since some time ago; may stand still while nothing is probed or run.
  std::function<double()> now_s;
  /// Why the gate is to end now, as PhaseOutcome::ended_early has it; empty where it is to go on.
  std::function<std::string()> why_end;
  /// Prints a line for the user.
  std::function<void(const std::string&)> say;
};

struct Options {
  std::uint64_t seed = 1;
  /// What is run between the links and the soak, in this order.
  std::vector<PhaseRequest> parts = {};
  /// Bytes of a probe's buffers.
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
  /// Seconds of every move of the first round, when nothing else runs.
  std::vector<double> seconds = {};

  /// The median speed in 10^9 bytes copied a second; 0 where nothing was moved.
  [[nodiscard]] double gigabytes_per_s() const;
};

/// A physical device and what all phases say of it.
struct DeviceVerdict {
  Device device = {};
  /// Never passed where the device is no hardware.
  harness::Verdict verdict = harness::Verdict::passed;
  std::string reason = {};
  /// What its own memory held and moved.
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
  std::vector<Speed> speeds;
  /// The exposure of all links together.
  Exposure exposure;
  /// Cases of all suites, and findings among them that are red.
  std::int64_t cases = 0;
  std::int64_t failures = 0;
  /// Whether every device is one; bounds on error rates are of hardware alone.
  [[nodiscard]] bool is_of_hardware() const;
  /// The report's exit status: 0 only where all that the gate is made of was run and held.
  int status = 0;
};

/// Runs the gate on at least one device.
[[nodiscard]] GateReport run_gate(const Options& options,
                                  const std::vector<Device>& devices,
                                  const Hooks& hooks);

/// For report.json's environment.
[[nodiscard]] nlohmann::ordered_json to_json(const GateReport& gate);
/// For people: verdicts, speeds, exposure.
[[nodiscard]] std::string to_markdown(const GateReport& gate);

}  // namespace rankcheck::cases::hardware
