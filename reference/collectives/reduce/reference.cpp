#include "reference/collectives/references.hpp"

namespace rankcheck::reference::reduce {

/// out[root][i] = op over q of in[q][i]; other ranks have no output.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (rank != call.root) return;
  pieces.push_back({.recv_offset = 0, .count = call.count, .source = every_rank, .send_offset = 0});
}

}  // namespace rankcheck::reference::reduce
