#pragma once

#include "gpu/plan/patterns/place.hpp"

namespace rankcheck::gpu::plan {

/// Every rank r holds block r at place(r, r); afterwards every rank holds every block.
using Spread = void(Builder& builder, const Place& place);

/// Each block travels around the ring: n-1 steps between neighbours.
Spread ring_all_gather;
/// Each rank passes on all that it has, over distances that double: log2(n) steps, any n. Blocks go
/// to where they belong at once, so that nothing is rotated afterwards.
Spread bruck_all_gather;
/// Each rank puts its block to every other rank: one step.
Spread direct_all_gather;

/// As ring_all_gather, where `missing` tells the places that are still to be filled: an empty range
/// where a rank holds the block already.
void ring_all_gather(Builder& builder, const Place& place, const Place& missing);

/// The plan of all_gather and all_gather_v.
template <Spread& spread>
void all_gather(Builder& builder) {
  const Place place = recv_blocks(builder);
  for (int r = 0; r < builder.ranks(); ++r) builder.copy(place(r, r), builder.send(r));
  spread(builder, place);
}

}  // namespace rankcheck::gpu::plan
