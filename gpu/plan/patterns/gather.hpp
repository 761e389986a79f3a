#pragma once

#include "gpu/plan/patterns/place.hpp"

/// Plans of gather and scatter, and of gather_v and scatter_v.
namespace rankcheck::gpu::plan {

/// Takes one step: every rank puts its block to the root, or the root puts every rank's block.
void direct_gather(Builder& builder);
void direct_scatter(Builder& builder);

/// Takes log2(n) steps along a binomial tree. An inner rank keeps the blocks of other ranks in
/// scratch memory.
void binomial_gather(Builder& builder);
void binomial_scatter(Builder& builder);

/// Moves the block of every rank r, at_owner(r, r), along a binomial tree to at_root(root, r). The
/// root's own block stays where it is.
void gather_blocks_along_tree(Builder& builder, const Place& at_root, const Place& at_owner);

}  // namespace rankcheck::gpu::plan
