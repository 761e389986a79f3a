#pragma once

#include "gpu/plan/builder.hpp"

/// Plans of operations along an axis. The array of rank q has the shape (outer, counts[q], inner).
/// The strip (q, a) is what rank q has at index `a` before the axis: counts[q] * inner elements
/// that are consecutive both in its own array and in the joined array.
namespace rankcheck::gpu::plan {

/// Every rank puts its strips to their places on every other rank: one step.
void direct_all_gather_axis(Builder& builder);
/// Whole arrays travel around the ring into scratch memory, and each rank then copies their strips
/// to their places.
void ring_all_gather_axis(Builder& builder);

/// Every rank puts its strips to their places on the root: one step.
void direct_gather_axis(Builder& builder);
/// Whole arrays move up a binomial tree into scratch memory of the root, which then copies their
/// strips to their places.
void binomial_gather_axis(Builder& builder);

/// The root combines the rows of all ranks from their memory. Each index before the axis needs one
/// step, or several if there are more rows than one step may combine.
void direct_reduce_axis(Builder& builder);
/// Each rank combines its own rows, and partial results move up a binomial tree. Ranks without rows
/// take no part.
void rows_first_reduce_axis(Builder& builder);

}  // namespace rankcheck::gpu::plan
