#pragma once

#include <string>

#include "cases/hardware/gate.hpp"

/// How the gate judges links and devices.
namespace rankcheck::cases::hardware {

/// Replaces the verdict and its reason if the other verdict is worse.
void worsen(harness::Verdict& verdict,
            std::string& reason,
            harness::Verdict other,
            const std::string& why);

/// Judges a link by the outcome of one more probe.
void judge(Link& link, const ProbeOutcome& outcome);

/// Judges the devices by their links, and adds up what was tested.
void judge_devices(GateReport& gate);

}  // namespace rankcheck::cases::hardware
