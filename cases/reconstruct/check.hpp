#pragma once

#include <string_view>

#include "cases/reconstruct/reconstruction.hpp"

namespace rankcheck::cases::reconstruct {

/// Takes the step in the reference of an operation `<solver>_step`, in double precision and in this
/// process, and compares object, probe, cost and what the solver remembers, each within the
/// reference's own bound.
[[nodiscard]] StepCheck check_step(std::string_view operation,
                                   const Problem& problem,
                                   const StepTaken& step);

}  // namespace rankcheck::cases::reconstruct
