#pragma once

#include <vector>

#include "gpu/plan/patterns/place.hpp"
#include "gpu/plan/patterns/tree.hpp"

/// Schedules in steps: within each host, and between the leaders of the hosts. Options::hosts has
/// the host of each rank. The leader of the root's host is the root, and the leader of another host
/// is its first rank.
namespace rankcheck::gpu::plan {

/// Returns the edges of a tree over all ranks, from the root outwards: a binomial tree over the
/// leaders, then one over each host. Edge::size is not set, because the ranks below an edge need
/// not stand one behind another.
[[nodiscard]] std::vector<Edge> tree_by_host(const Builder& builder, int root);

/// Distributes blocks as an AllGatherPattern does: to the leader, between the leaders, and from the
/// leader.
void all_gather_by_host(Builder& builder, const Place& place);

}  // namespace rankcheck::gpu::plan
