#pragma once

#include <memory>
#include <string>

#include "gpu/device/cuda/link.hpp"

#include "harness/base/stop.hpp"
#include "harness/case/verdict.hpp"
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

/// Probes in one process, which saves the time to open the devices again. A probe that ends the
/// process or does not answer is crashed or hung, and the next probe has a new process.
class ProbeWorker {
 public:
  /// The worker takes a request on each line of its standard input, and prints an answer for it.
  /// The first probe of a process has `opening_s` more seconds, in which it opens the devices.
  ProbeWorker(harness::worker::Command worker, double timeout_s, double opening_s);
  ProbeWorker(const ProbeWorker&) = delete;
  ProbeWorker& operator=(const ProbeWorker&) = delete;
  ~ProbeWorker();

  /// Throws harness::Interrupted if `stop` is requested before the answer.
  [[nodiscard]] ProbeOutcome probe(const ProbeRequest& request,
                                   const harness::StopRequest& stop = {});

 private:
  struct Running;

  harness::worker::Command worker_;
  double timeout_s_;
  double opening_s_;
  std::unique_ptr<Running> running_;
};

}  // namespace rankcheck::cases::hardware
