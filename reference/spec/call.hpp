#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/scene.hpp"
#include "reference/spec/type.hpp"

namespace rankcheck::spec {

/// Who sends to whom in send_recv. `ring`: rank r sends to (r + shift) mod n. `pairs`: r and r xor
/// 1 exchange, an odd last rank with itself. `self`: every rank with itself.
enum class Pattern : std::uint8_t { ring, pairs, self };

/// One collective call as every rank of the group sees it: what it means, not where or how it runs.
/// Ranks are positions in the group, 0 … ranks-1.
struct Call {
  int ranks = 1;
  /// Rank of the root; rooted operations only.
  int root = 0;
  Type type = Type::f32;
  ReduceOp op = ReduceOp::none;
  /// Elements of one block; operations of even parts only.
  std::int64_t count = 0;
  /// Elements of each block, uneven operations only: one a rank, or one a (sender, receiver) pair
  /// in row-major order for all_to_all_v. Operators of a scene: scan positions of each rank, which
  /// has the ones behind those of the ranks before it.
  std::vector<std::int64_t> counts = {};
  /// Unused elements behind each block of a buffer of several uneven blocks.
  std::int64_t gap = 0;
  Pattern pattern = Pattern::ring;
  int shift = 1;
  /// Operators of a scene only.
  Scene scene = {};
};

/// The rank that `rank` sends to in send_recv.
[[nodiscard]] constexpr int destination(const Call& call, int rank) {
  if (call.pattern == Pattern::self) return rank;
  if (call.pattern == Pattern::pairs) return (rank ^ 1) < call.ranks ? rank ^ 1 : rank;
  const int shift = ((call.shift % call.ranks) + call.ranks) % call.ranks;
  return (rank + shift) % call.ranks;
}

/// The rank that `rank` receives from in send_recv.
[[nodiscard]] constexpr int origin(const Call& call, int rank) {
  if (call.pattern != Pattern::ring) return destination(call, rank);
  const int shift = ((call.shift % call.ranks) + call.ranks) % call.ranks;
  return (rank - shift + call.ranks) % call.ranks;
}

}  // namespace rankcheck::spec
