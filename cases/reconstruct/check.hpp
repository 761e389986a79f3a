#pragma once

#include <string_view>

#include "cases/reconstruct/reconstruction.hpp"

namespace rankcheck::cases::reconstruct {

/// Takes the step in the reference of an operation `<solver>_step`, in double precision and in this
/// process, and compares object, probe, cost and what the solver remembers, each within the
/// reference's own bound. Throws reference::OutOfPatience where a reference::Patience ends.
[[nodiscard]] StepCheck check_step(std::string_view operation,
                                   const Problem& problem,
                                   const StepTaken& step);

/// Bytes that this takes at most, beside the states, where the reference has single slices: it
/// holds values for all frames of a step at once, each with a bound.
[[nodiscard]] double check_bytes(const Dataset& data, int modes, int batches);

}  // namespace rankcheck::cases::reconstruct
