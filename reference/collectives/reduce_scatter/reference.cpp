#include "reference/collectives/references.hpp"
#include "reference/spec/shapes.hpp"

namespace rankcheck::reference::reduce_scatter {

/// out[r][i] = op over q of in[q][block r][i].
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  pieces.push_back({.recv_offset = 0,
                    .count = spec::block_count(call, rank),
                    .source = every_rank,
                    .send_offset = spec::block_offset(call, rank)});
}

}  // namespace rankcheck::reference::reduce_scatter
