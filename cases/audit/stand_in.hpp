#pragma once

#include <span>
#include <string>
#include <string_view>

#include "harness/check/finding.hpp"
#include "harness/check/operation.hpp"

#include "cases/audit/catalogue.hpp"

/// Faults of the stand-in for NCCL, a library that works on host memory. The tests build it.
namespace rankcheck::cases::audit {

/// One fault of the stand-in, and the run that must find it.
struct StandInFault {
  std::string_view name;
  std::string_view operation;
  /// The algorithm of the backend nccl without which the fault does not show.
  std::string_view algorithm;

  static constexpr std::string_view property = "agrees_with_reference";
};

/// The faults that behave as published defects. The library's sources describe them.
[[nodiscard]] std::span<const StandInFault> stand_in_faults();

/// Returns why this program cannot look for faults of the stand-in. Empty if it can.
[[nodiscard]] std::string why_no_stand_in();

/// Looks for the fault on two and three ranks. Changes
/// the environment meanwhile, so no other thread may run.
[[nodiscard]] harness::Finding hunt_in_stand_in(const harness::Catalogue& catalogue,
                                                const StandInFault& fault,
                                                const HuntOptions& options);

/// Says in words how the finding differs from what is required. Empty if nothing differs.
[[nodiscard]] std::string why_not_caught_in_stand_in(const harness::Finding& finding);

}  // namespace rankcheck::cases::audit
