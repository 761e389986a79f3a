#pragma once

#include <string>

#include "gpu/plan/plan.hpp"
#include "gpu/plan/schedule.hpp"

namespace rankcheck::gpu::plan {

/// `recv[4..8) of rank 2`; without the rank where it is `home`.
[[nodiscard]] std::string to_text(const Range& range, int home);

/// `rank 1 step 4 (put send[0..2) -> recv[0..2) of rank 0)`, `rank 1 (entering)`.
[[nodiscard]] std::string to_text(const Plan& plan, const Move& move);

/// The whole plan, a step a line under a line for each rank.
[[nodiscard]] std::string to_text(const Plan& plan);

}  // namespace rankcheck::gpu::plan
