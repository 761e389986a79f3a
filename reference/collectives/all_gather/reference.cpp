#include "reference/collectives/references.hpp"
#include "reference/spec/shapes.hpp"

namespace rankcheck::reference::all_gather {

/// out[r][block q] = in[q], for every rank r.
void reference(const spec::Call& call, int /*rank*/, std::vector<Piece>& pieces) {
  std::int64_t offset = 0;
  for (int q = 0; q < call.ranks; ++q) {
    const std::int64_t count = spec::block_count(call, q);
    pieces.push_back({.recv_offset = offset, .count = count, .source = q, .send_offset = 0});
    offset += count + call.gap;
  }
}

}  // namespace rankcheck::reference::all_gather
