#pragma once

#include <cstdint>
#include <vector>

#include "reference/spec/call.hpp"

namespace rankcheck::reference {

/// The source of a piece that combines the same run of every rank's send buffer, in rank order.
inline constexpr int every_rank = -1;

/// A run of one rank's output elements and the input elements that it is made of. Offsets and
/// counts are in elements. A reference lists such pieces: it says which inputs are used, never how
/// they travel.
struct Piece {
  std::int64_t recv_offset = 0;
  std::int64_t count = 0;
  /// Position of the source in the group, or `every_rank`.
  int source = 0;
  std::int64_t send_offset = 0;
};

/// Appends the pieces that make up the output of `rank`; appends nothing if `rank` has no output.
using Reference = void (*)(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference
