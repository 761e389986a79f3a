#include "reference/collectives/references.hpp"

namespace rankcheck::reference::broadcast_list {

/// See Reference.
void reference(const spec::Call& call, int /*rank*/, std::vector<Piece>& pieces) {
  std::int64_t start = 0;
  for (const std::int64_t count : call.counts) {
    pieces.push_back(
        {.recv_offset = start, .count = count, .source = call.root, .send_offset = start});
    start += count + call.gap;
  }
}

}  // namespace rankcheck::reference::broadcast_list
