#include "reference/collectives/references.hpp"

namespace rankcheck::reference::all_to_all {

/// out[r][block q] = in[q][block r].
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  for (int q = 0; q < call.ranks; ++q) {
    pieces.push_back({.recv_offset = q * call.count,
                      .count = call.count,
                      .source = q,
                      .send_offset = rank * call.count});
  }
}

}  // namespace rankcheck::reference::all_to_all
