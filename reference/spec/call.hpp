#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

namespace rankcheck::spec {

/// Who sends to whom in send_recv:
/// - ring: rank r sends to (r + shift) mod n;
/// - pairs: r and r xor 1 exchange; if n is odd, the last rank sends to itself;
/// - self: every rank sends to itself;
/// - one_way: an even rank r sends to r + 1 and receives nothing. If n is odd, the last rank does
///   neither.
enum class Pattern : std::uint8_t { ring, pairs, self, one_way };

/// In place of the rank that a rank sends to or receives from, if there is none.
inline constexpr int nobody = -1;

/// One collective call as every rank of the group sees it: what the call means, not where or how it
/// runs. Ranks are positions in the group, 0 … ranks-1.
struct Call {
  int ranks = 1;
  /// The root's rank; for rooted operations only.
  int root = 0;
  Type type = Type::f32;
  ReduceOp op = ReduceOp::none;
  /// Elements of one block; only for operations whose blocks have equal sizes.
  std::int64_t count = 0;
  /// Elements of each block, for operations whose blocks have different sizes: one value for each
  /// rank. all_to_all_v has one value for each (sender, receiver) pair, in row-major order. An
  /// operation on a list of arrays has one value for each array, which is the same on every rank.
  /// An operation along an axis has each rank's length along the axis.
  std::vector<std::int64_t> counts = {};
  /// For operations along an axis, whose arrays have the shape (outer, length, inner): the product
  /// of the lengths before the axis, and of those behind it.
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  /// Unused elements behind each block, in a buffer of several blocks of different sizes.
  std::int64_t gap = 0;
  Pattern pattern = Pattern::ring;
  int shift = 1;
};

/// The rank that `rank` sends to in send_recv, or nobody.
[[nodiscard]] constexpr int destination(const Call& call, int rank) {
  if (call.pattern == Pattern::self) return rank;
  if (call.pattern == Pattern::pairs) return (rank ^ 1) < call.ranks ? rank ^ 1 : rank;
  if (call.pattern == Pattern::one_way) {
    return rank % 2 == 0 && rank + 1 < call.ranks ? rank + 1 : nobody;
  }
  const int shift = ((call.shift % call.ranks) + call.ranks) % call.ranks;
  return (rank + shift) % call.ranks;
}

/// The rank that `rank` receives from in send_recv, or nobody.
[[nodiscard]] constexpr int origin(const Call& call, int rank) {
  if (call.pattern == Pattern::one_way) return rank % 2 == 1 ? rank - 1 : nobody;
  if (call.pattern != Pattern::ring) return destination(call, rank);
  const int shift = ((call.shift % call.ranks) + call.ranks) % call.ranks;
  return (rank - shift + call.ranks) % call.ranks;
}

}  // namespace rankcheck::spec
