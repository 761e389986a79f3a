#pragma once

#include "gpu/plan/builder.hpp"

/// Plans of all_to_all and all_to_all_v.
namespace rankcheck::gpu::plan {

/// Takes n-1 steps: in step d every rank sends one block to the rank at distance d.
void pairwise_all_to_all(Builder& builder);
/// Takes log2(n) steps over distances that double: in each, every rank passes on half of the blocks
/// that it holds. The messages are fewer and larger, but the traffic is log2(n)/2 times as large.
void bruck_all_to_all(Builder& builder);

}  // namespace rankcheck::gpu::plan
