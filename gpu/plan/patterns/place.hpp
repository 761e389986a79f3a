#pragma once

#include <cstdint>
#include <functional>

#include "gpu/plan/builder.hpp"

/// Schedules that several algorithms share. They work on blocks, never on counts, so operations
/// with equal and with unequal blocks use the same schedules.
namespace rankcheck::gpu::plan {

/// The place of block `block` on rank `rank`. Places made from a builder must not outlive the
/// builder.
using Place = std::function<Range(int rank, int block)>;

/// The blocks of the ranks' send buffers, and of their recv buffers.
[[nodiscard]] Place send_blocks(const Builder& builder);
[[nodiscard]] Place recv_blocks(const Builder& builder);

/// The only block of a rank's send or recv buffer. The block number is ignored.
[[nodiscard]] Place whole_send(const Builder& builder);
[[nodiscard]] Place whole_recv(const Builder& builder);

/// The message of a broadcast: the send buffer of the root and the recv buffer of every other rank.
[[nodiscard]] Place broadcast_message(const Builder& builder);

/// Cuts each range of `whole` into nearly equal parts, one for each rank.
[[nodiscard]] Place parts_of(const Builder& builder, Place whole);

/// Consecutive blocks of a ring of blocks: block 0 follows the last block.
struct Blocks {
  int first = 0;
  int count = 0;
};

/// Whether `next` starts where `range` ends, so that both can be moved as one range.
[[nodiscard]] bool continues(const Range& range, const Range& next);

}  // namespace rankcheck::gpu::plan
