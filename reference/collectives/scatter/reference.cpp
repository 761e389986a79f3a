#include "reference/collectives/references.hpp"
#include "reference/spec/shapes.hpp"

namespace rankcheck::reference::scatter {

/// out[r] = in[root][block r].
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  pieces.push_back({.recv_offset = 0,
                    .count = spec::block_count(call, rank),
                    .source = call.root,
                    .send_offset = spec::block_offset(call, rank)});
}

}  // namespace rankcheck::reference::scatter
