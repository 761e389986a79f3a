#pragma once

#include <string>

#include "gpu/plan/plan.hpp"
#include "gpu/plan/schedule.hpp"

namespace rankcheck::gpu::plan {

/// For example `recv[4..8) of rank 2`. The rank is left out if it is `home`.
[[nodiscard]] std::string to_text(const Range& range, int home);

/// For example `rank 1 step 4 (put send[0..2) -> recv[0..2) of rank 0)` or `rank 1 (entering)`.
[[nodiscard]] std::string to_text(const Plan& plan, const Move& move);

/// The whole plan: one line for each rank, followed by one line for each of its steps.
[[nodiscard]] std::string to_text(const Plan& plan);

}  // namespace rankcheck::gpu::plan
