#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "reference/spec/collective.hpp"
#include "reference/spec/to_size.hpp"

/// The blocks of the collectives' buffers. An operation with equal blocks and its variant with
/// blocks of different sizes share these functions: without `counts`, every block has `count`
/// elements. In an operation along an axis, the array of rank q has the shape (outer, counts[q],
/// inner), row-major.
namespace rankcheck::spec {

/// The length along the axis of all ranks' arrays together, in an operation along an axis.
[[nodiscard]] inline std::int64_t axis_length(const Call& call) {
  return std::accumulate(call.counts.begin(), call.counts.end(), std::int64_t{0});
}

/// The place along the axis where the array of `rank` begins.
[[nodiscard]] inline std::int64_t axis_start(const Call& call, int rank) {
  return std::accumulate(call.counts.begin(), call.counts.begin() + rank, std::int64_t{0});
}

/// Appends an array with this length along the axis: one block for each index before the axis,
/// without gaps. Returns the number of elements.
inline std::int64_t append_strips(std::vector<Block>& out, const Call& call, std::int64_t length) {
  return append_even(out, static_cast<int>(call.outer), length * call.inner);
}

/// Number of elements of the block that belongs to `rank`.
[[nodiscard]] inline std::int64_t block_count(const Call& call, int rank) {
  return call.counts.empty() ? call.count : call.counts[to_size(rank)];
}

/// Appends one block for each rank, in rank order, and returns the buffer's size.
inline std::int64_t append_all_blocks(std::vector<Block>& out, const Call& call) {
  return call.counts.empty() ? append_even(out, call.ranks, call.count)
                             : append_uneven(out, call, 0, 1, call.ranks);
}

/// Appends the block of `rank` alone, without a gap, and returns the buffer's size.
inline std::int64_t append_own_block(std::vector<Block>& out, const Call& call, int rank) {
  return append_even(out, 1, block_count(call, rank));
}

/// Offset of `rank`'s block, in elements, in the buffer that append_all_blocks describes.
[[nodiscard]] inline std::int64_t block_offset(const Call& call, int rank) {
  if (call.counts.empty()) return rank * call.count;
  std::int64_t offset = 0;
  for (int q = 0; q < rank; ++q) offset += block_count(call, q) + call.gap;
  return offset;
}

}  // namespace rankcheck::spec
