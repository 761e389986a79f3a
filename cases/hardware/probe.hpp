#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "gpu/device/cuda/link.hpp"

#include "harness/stop.hpp"
#include "harness/verdict.hpp"
#include "harness/worker/process.hpp"

/// Probes of devices and links by rankcheck-worker-cuda. Each probe has a process of its own, so
/// that a probe that hangs or breaks a device's context does not affect other probes.
namespace rankcheck::cases::hardware {

/// A physical device of this machine.
struct Device {
  std::string name = {};
  std::string bus = {};
  std::string capability = {};
  std::int64_t memory_bytes = 0;
  /// For a stand-in device: what provides its memory. Empty for hardware.
  std::string memory = {};

  [[nodiscard]] bool is_hardware() const { return memory.empty(); }
};

[[nodiscard]] nlohmann::ordered_json to_json(const Device& device);
/// Throws harness::BadInput that names the field.
[[nodiscard]] Device device_from_json(const nlohmann::json& json);

struct ProbeRequest {
  /// The numbers of physical devices, which may be equal.
  int from = 0;
  int to = 0;
  /// The most bytes of each buffer.
  std::int64_t bytes = 0;
  gpu::cuda::LinkProbe probe = {};
};

[[nodiscard]] nlohmann::ordered_json to_json(const ProbeRequest& request);
/// Throws harness::BadInput that names the field.
[[nodiscard]] ProbeRequest request_from_json(const nlohmann::json& json);

[[nodiscard]] nlohmann::ordered_json to_json(const gpu::cuda::LinkResult& result);
/// Throws harness::BadInput that names the field.
[[nodiscard]] gpu::cuda::LinkResult result_from_json(const nlohmann::json& json);

/// The outcome of one probe.
struct ProbeOutcome {
  /// crashed, hung or errored; skipped if the devices do not support the probe; otherwise passed,
  /// whatever the result says.
  harness::Verdict verdict = harness::Verdict::passed;
  std::string reason = {};
  gpu::cuda::LinkResult result = {};
};

/// Runs a worker with the arguments `--probe REQUEST`, kills it after `timeout_s`, and reads the
/// line that it prints. Throws harness::Interrupted if `stop` is requested before the answer.
[[nodiscard]] ProbeOutcome run_probe(const harness::worker::Command& worker,
                                     double timeout_s,
                                     const harness::StopRequest& stop = {});

}  // namespace rankcheck::cases::hardware
