#pragma once

#include "gpu/plan/patterns/all_gather.hpp"
#include "gpu/plan/patterns/place.hpp"

namespace rankcheck::gpu::plan {

/// Combines the blocks in(q, b) of all ranks q into out(b, b), finished, for every block b.
using Collect = void(Builder& builder, const Place& in, const Place& out);

/// Each block travels around the ring and grows on its way: n-1 steps, two slots of one block a
/// rank. A sender waits until the slot was passed on before it fills it again.
Collect ring_reduce_scatter;
/// Pairs of ranks exchange halves, over distances that halve: log2(n) steps. Ranks above a power of
/// two first hand all their blocks to a neighbour, which gives them their result at the end.
Collect recursive_halving_reduce_scatter;
/// Each rank combines its block out of its peers' memory, and nobody leaves before that is done.
Collect direct_reduce_scatter;
/// The same without the end: peers may not leave before they hear from everyone whose block is not
/// empty.
Collect reduce_scatter_from_peers;

/// Combines block `block` of all ranks, in rank order and out of their memory, into `out`.
void reduce_from_peers(Builder& builder, const Range& out, const Place& in, int block);

/// The plan of reduce_scatter and reduce_scatter_v.
template <Collect& collect>
void reduce_scatter(Builder& builder) {
  collect(builder, send_blocks(builder), whole_recv(builder));
}

/// The plan of all_reduce: a reduce-scatter of one part for each rank, then an all-gather.
template <Collect& collect, Spread& spread>
void all_reduce(Builder& builder) {
  const Place out = parts_of(builder, whole_recv(builder));
  collect(builder, parts_of(builder, whole_send(builder)), out);
  spread(builder, out);
}

}  // namespace rankcheck::gpu::plan
