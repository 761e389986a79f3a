#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cases/hardware/gate.hpp"

/// Devices and links that do as they should.
namespace rankcheck::cases::hardware {

inline std::vector<Device> made_up_devices(int count) {
  return std::vector<Device>(static_cast<std::size_t>(count), Device{.name = "made up"});
}

/// Every copy arrives after a microsecond.
inline ProbeOutcome good_probe(const ProbeRequest& request) {
  const std::int64_t copies = request.probe.patterns * request.probe.repeats;
  ProbeOutcome outcome;
  outcome.result = {.bytes_of_copy = request.bytes,
                    .copies = copies,
                    .seconds = std::vector<double>(static_cast<std::size_t>(copies), 1e-6)};
  return outcome;
}

/// One finding of 100 cases.
inline PhaseOutcome passing_phase(const PhaseRequest& /*request*/) {
  harness::Finding finding;
  finding.unit.operation = "all_reduce";
  finding.unit.algorithm = "ring";
  finding.unit.backend = "cuda";
  finding.unit.property = "agrees_with_reference";
  finding.cases = 100;
  finding.compared_bytes = 1000;
  PhaseOutcome outcome;
  outcome.report.findings.push_back(finding);
  return outcome;
}

}  // namespace rankcheck::cases::hardware
