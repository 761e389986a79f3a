#include "reference/collectives/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::all_gather_axis {

/// See Reference.
void reference(const spec::Call& call, int /*rank*/, std::vector<Piece>& pieces) {
  // The result is listed in the order of its elements.
  std::int64_t recv_offset = 0;
  for (std::int64_t a = 0; a < call.outer; ++a) {
    for (int q = 0; q < call.ranks; ++q) {
      const std::int64_t count = call.counts[spec::to_size(q)] * call.inner;
      pieces.push_back(
          {.recv_offset = recv_offset, .count = count, .source = q, .send_offset = a * count});
      recv_offset += count;
    }
  }
}

}  // namespace rankcheck::reference::all_gather_axis
