#pragma once

#include "gpu/plan/builder.hpp"

/// Plans of all_to_all and of its uneven twin.
namespace rankcheck::gpu::plan {

/// n-1 steps: in step d every rank sends one block to the rank at distance d.
void pairwise_all_to_all(Builder& builder);
/// log2(n) steps over distances that double: in each, every rank passes on half of the blocks that
/// it holds. Fewer, larger messages for log2(n)/2 times the traffic.
void bruck_all_to_all(Builder& builder);

}  // namespace rankcheck::gpu::plan
