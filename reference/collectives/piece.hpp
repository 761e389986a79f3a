#pragma once

#include <cstdint>
#include <vector>

#include "reference/spec/call.hpp"

namespace rankcheck::reference {

/// The source of a piece that combines the same run of every rank's send buffer, in rank order.
inline constexpr int every_rank = -1;

/// A run of one rank's output elements and the input elements that they are made of; offsets and
/// counts in elements. A reference is the list of these: which inputs, never how they travel.
struct Piece {
  std::int64_t recv_offset = 0;
  std::int64_t count = 0;
  /// A rank of the group, or `every_rank`.
  int source = 0;
  std::int64_t send_offset = 0;
};

/// Appends the pieces that make up the output of `rank`; nothing where it has no output.
using Reference = void (*)(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference
