#pragma once

#include <cstdint>
#include <functional>

#include "gpu/plan/builder.hpp"

/// Schedules that several algorithms share. They see blocks, never counts: even and uneven
/// operations are the same here.
namespace rankcheck::gpu::plan {

/// Where block `block` is on rank `rank`. Places made from a builder must not outlive it.
using Place = std::function<Range(int rank, int block)>;

/// The blocks of the ranks' send buffers, and of their recv buffers.
[[nodiscard]] Place send_blocks(const Builder& builder);
[[nodiscard]] Place recv_blocks(const Builder& builder);

/// The only block of the ranks' send or recv buffers, whichever block is asked for.
[[nodiscard]] Place whole_send(const Builder& builder);
[[nodiscard]] Place whole_recv(const Builder& builder);

/// A broadcast's message: what the root sends, and elsewhere what is received.
[[nodiscard]] Place broadcast_message(const Builder& builder);

/// Cuts each range of `whole` into one nearly equal part for each rank.
[[nodiscard]] Place parts_of(const Builder& builder, Place whole);

/// Consecutive blocks of a ring of blocks: behind the last block comes block 0.
struct Blocks {
  int first = 0;
  int count = 0;
};

/// Whether `next` starts where `range` ends, so that the two may be moved as one.
[[nodiscard]] bool continues(const Range& range, const Range& next);

}  // namespace rankcheck::gpu::plan
