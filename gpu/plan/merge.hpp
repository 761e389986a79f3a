#pragma once

#include <span>

#include "gpu/plan/plan.hpp"

namespace rankcheck::gpu::plan {

/// Makes one plan of the calls that several groups make at the same time. The ranks of the first
/// plan come first, then those of the second plan, and so on. No rank waits for another group.
/// `merged` must not be one of the plans.
void merge(std::span<const Plan> plans, Plan& merged);

}  // namespace rankcheck::gpu::plan
