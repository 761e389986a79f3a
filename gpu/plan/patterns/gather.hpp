#pragma once

#include "gpu/plan/builder.hpp"

/// Plans of gather and scatter and of their uneven twins.
namespace rankcheck::gpu::plan {

/// One step: every rank puts its block to the root, or the root puts every rank's block.
void direct_gather(Builder& builder);
void direct_scatter(Builder& builder);

/// log2(n) steps along a binomial tree; a rank on the way keeps other ranks' blocks in scratch
/// memory.
void binomial_gather(Builder& builder);
void binomial_scatter(Builder& builder);

}  // namespace rankcheck::gpu::plan
