#pragma once

#include "gpu/plan/patterns/place.hpp"

namespace rankcheck::gpu::plan {

/// Distributes blocks: every rank r holds block r at place(r, r), and afterwards every rank holds
/// every block.
using AllGatherPattern = void(Builder& builder, const Place& place);

/// Each block travels around the ring: n-1 steps between neighbours.
AllGatherPattern ring_all_gather;
/// Each rank passes on all the blocks that it has, over distances that double: log2(n) steps, for
/// any n. Blocks are written directly to their final places, so no rotation follows.
AllGatherPattern bruck_all_gather;
/// Each rank puts its block to every other rank: one step.
AllGatherPattern direct_all_gather;

/// Like ring_all_gather above, but writes to `missing` instead of `place`. missing(rank, block) is
/// an empty range if the rank already holds the block.
void ring_all_gather(Builder& builder, const Place& place, const Place& missing);

/// The plan of all_gather and all_gather_v.
template <AllGatherPattern& all_gather_pattern>
void all_gather(Builder& builder) {
  const Place place = recv_blocks(builder);
  for (int r = 0; r < builder.ranks(); ++r) builder.copy(place(r, r), builder.send(r));
  all_gather_pattern(builder, place);
}

}  // namespace rankcheck::gpu::plan
