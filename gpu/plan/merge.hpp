#pragma once

#include <span>

#include "gpu/plan/plan.hpp"

namespace rankcheck::gpu::plan {

/// Makes one plan of calls that are under way at the same time: of several groups, or of the same
/// ranks. The ranks of the first plan come first, then those of the second plan, and so on. No rank
/// waits for another call.
/// `merged` must not be one of the plans.
void merge(std::span<const Plan> plans, Plan& merged);

}  // namespace rankcheck::gpu::plan
