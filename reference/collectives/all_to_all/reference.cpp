#include "reference/collectives/all_to_all/reference.hpp"

namespace rankcheck::reference::all_to_all {

void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  for (int q = 0; q < call.ranks; ++q) {
    pieces.push_back({.recv_offset = q * call.count,
                      .count = call.count,
                      .source = q,
                      .send_offset = rank * call.count});
  }
}

}  // namespace rankcheck::reference::all_to_all
