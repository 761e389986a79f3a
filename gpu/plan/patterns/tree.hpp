#pragma once

#include <vector>

#include "gpu/plan/patterns/place.hpp"

namespace rankcheck::gpu::plan {

/// One edge of a binomial tree. The ranks below the edge are child, child + 1, …: `size` of them,
/// rank 0 behind the last one.
struct Edge {
  int parent = 0;
  int child = 0;
  int size = 0;
};

/// The edges of the binomial tree over all ranks, from the root outwards: a rank's edge to its
/// parent comes before those to its children, the largest child first.
[[nodiscard]] std::vector<Edge> binomial_tree(int ranks, int root);

/// Copies place(root, 0) to place(r, 0) of every rank along the tree.
void broadcast_along_tree(Builder& builder, int root, const Place& place);
/// Combines in(r, 0) of every rank along the tree into `out`, finished, at the root.
void reduce_along_tree(Builder& builder, int root, const Place& in, const Range& out);
/// Moves block r from place(root, r) to place(r, r); a rank on the way keeps the blocks of the
/// ranks below it at place(rank, block).
void scatter_along_tree(Builder& builder, int root, const Place& place);
/// Moves block r from place(r, r) to place(root, r), likewise.
void gather_along_tree(Builder& builder, int root, const Place& place);

}  // namespace rankcheck::gpu::plan
