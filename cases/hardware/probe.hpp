#pragma once

#include <string>

#include "gpu/device/cuda/link.hpp"

#include "harness/stop.hpp"
#include "harness/verdict.hpp"
#include "harness/worker/process.hpp"

#include "cases/devices/link_probe.hpp"

/// Probes of devices and links by rankcheck-worker-cuda. Each probe has a process of its own, so
/// that a probe that hangs or breaks a device's context does not affect other probes.
namespace rankcheck::cases::hardware {

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
