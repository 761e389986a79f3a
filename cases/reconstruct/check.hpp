#pragma once

#include <string_view>

#include "cases/reconstruct/reconstruction.hpp"

namespace rankcheck::cases::reconstruct {

/// Takes the step in the reference of the operation `<solver>_step`, in double precision and in
/// this process. Compares object, probe, cost and the solver's memory, each with the reference's
/// own bound. Throws reference::Cancelled if a reference::CancellationScope is cancelled.
[[nodiscard]] StepCheck check_step(std::string_view operation,
                                   const Problem& problem,
                                   const StepTaken& step);

/// Returns the most bytes that check_step() takes in addition to the states, for objects of one
/// slice. The reference holds the values of all frames of a step at once, each with a bound.
[[nodiscard]] double check_bytes(const Dataset& data, int modes, int batches);

}  // namespace rankcheck::cases::reconstruct
