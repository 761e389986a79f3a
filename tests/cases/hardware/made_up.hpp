#pragma once

#include <cstdint>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "cases/hardware/gate.hpp"
#include "tests/harness/sample.hpp"

/// Made-up devices and links that work correctly.
namespace rankcheck::cases::hardware {

inline std::vector<Device> made_up_devices(int count) {
  return std::vector<Device>(spec::to_size(count), Device{.name = "made up"});
}

/// Returns a result in which every copy arrives after a microsecond.
inline ProbeOutcome good_probe(const ProbeRequest& request) {
  const std::int64_t copies = request.probe.patterns * request.probe.repeats;
  ProbeOutcome outcome;
  outcome.result = {.bytes_of_copy = request.bytes,
                    .copies = copies,
                    .seconds = std::vector<double>(spec::to_size(copies), 1e-6)};
  return outcome;
}

/// Returns the parts of a gate on this number of devices.
inline std::vector<PhaseRequest> made_up_parts(int devices) {
  std::vector<PhaseRequest> parts{{.phase = Phase::cuda},
                                  {.phase = Phase::nccl, .number = 1},
                                  {.phase = Phase::nccl, .number = 4},
                                  {.phase = Phase::speed},
                                  {.phase = Phase::sanitizer},
                                  {.phase = Phase::suites}};
  for (int d = 0; devices > 1 && d < devices; ++d) {
    parts.push_back({.phase = Phase::device, .number = d});
  }
  return parts;
}

/// Returns a speed that meets its target.
inline Speed good_speed() {
  return {.measurement = "cases/cuda",
          .counter = "cases_per_second",
          .value = 30,
          .target = 20,
          .is_upper = false};
}

/// Returns a phase that passed: one finding of 100 cases, or one speed in the phase that measures
/// speeds.
inline PhaseOutcome passing_phase(const PhaseRequest& request) {
  if (request.phase == Phase::speed) return {.speeds = {good_speed()}};
  harness::Finding finding;
  finding.unit = harness::sample_unit("all_reduce", "cuda");
  finding.cases = 100;
  finding.compared_bytes = 1000;
  PhaseOutcome outcome;
  outcome.report.findings.push_back(finding);
  return outcome;
}

}  // namespace rankcheck::cases::hardware
