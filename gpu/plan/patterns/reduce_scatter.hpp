#pragma once

#include "gpu/plan/patterns/all_gather.hpp"
#include "gpu/plan/patterns/place.hpp"

namespace rankcheck::gpu::plan {

/// Combines the blocks in(q, b) of all ranks q into out(b, b), finished, for every block b.
using ReduceScatterPattern = void(Builder& builder, const Place& in, const Place& out);

/// Each block travels around the ring and collects contributions: n-1 steps, two slots of one block
/// on each rank. A sender fills a slot again only after the receiver has passed the slot's content
/// on.
ReduceScatterPattern ring_reduce_scatter;
/// Pairs of ranks exchange halves, over distances that halve: log2(n) steps. If n is no power of
/// two, the surplus ranks first pass all their blocks to a neighbour. The neighbour gives them
/// their result at the end.
ReduceScatterPattern recursive_halving_reduce_scatter;
/// Each rank combines its block from its peers' memory. No rank leaves before all ranks have done
/// so.
ReduceScatterPattern direct_reduce_scatter;
/// Like direct_reduce_scatter without the last wait. The caller must ensure that no rank leaves
/// before it hears from every rank whose block is not empty.
ReduceScatterPattern reduce_scatter_from_peers;

/// Combines block `block` of all ranks into `out`, in rank order, reading it from the memory of the
/// ranks.
void reduce_from_peers(Builder& builder, const Range& out, const Place& in, int block);

/// The plan of reduce_scatter and reduce_scatter_v.
template <ReduceScatterPattern& reduce_scatter_pattern>
void reduce_scatter(Builder& builder) {
  reduce_scatter_pattern(builder, send_blocks(builder), whole_recv(builder));
}

/// The plan of all_reduce: a reduce-scatter of one part for each rank, then an all-gather.
template <ReduceScatterPattern& reduce_scatter_pattern, AllGatherPattern& all_gather_pattern>
void all_reduce(Builder& builder) {
  const Place out = parts_of(builder, whole_recv(builder));
  reduce_scatter_pattern(builder, parts_of(builder, whole_send(builder)), out);
  all_gather_pattern(builder, out);
}

}  // namespace rankcheck::gpu::plan
