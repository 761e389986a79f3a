#pragma once

#include <vector>

#include "gpu/plan/patterns/place.hpp"

namespace rankcheck::gpu::plan {

/// One edge of a binomial tree. The ranks below the edge are child, child + 1, … (`size` ranks).
/// Rank 0 follows the last rank.
struct Edge {
  int parent = 0;
  int child = 0;
  int size = 0;
};

/// Returns the edges of the binomial tree over all ranks, from the root outwards. A rank's edge to
/// its parent comes before the edges to its children, and the largest child comes first.
[[nodiscard]] std::vector<Edge> binomial_tree(int ranks, int root);

/// Copies place(root, 0) along the edges of a tree, which go outwards from the root, to place(r, 0)
/// of every rank r. broadcast_along_tree() takes the binomial tree.
void broadcast_along(Builder& builder, const std::vector<Edge>& edges, const Place& place);
void broadcast_along_tree(Builder& builder, int root, const Place& place);
/// Combines in(r, 0) of every rank r along the edges of a tree, which go outwards from the root,
/// into `out` at the root, finished. reduce_along_tree() takes the binomial tree.
void reduce_along(
    Builder& builder, const std::vector<Edge>& edges, int root, const Place& in, const Range& out);
void reduce_along_tree(Builder& builder, int root, const Place& in, const Range& out);
/// Moves block r from place(root, r) to place(r, r). An inner rank keeps the blocks of the ranks
/// below it at place(rank, block).
void scatter_along_tree(Builder& builder, int root, const Place& place);
/// Moves block r from place(r, r) to place(root, r). Inner ranks keep blocks as in
/// scatter_along_tree.
void gather_along_tree(Builder& builder, int root, const Place& place);

}  // namespace rankcheck::gpu::plan
