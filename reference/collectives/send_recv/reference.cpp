#include "reference/collectives/send_recv/reference.hpp"

namespace rankcheck::reference::send_recv {

void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (spec::origin(call, rank) == spec::nobody) return;
  pieces.push_back({.recv_offset = 0,
                    .count = call.count,
                    .source = spec::origin(call, rank),
                    .send_offset = 0});
}

}  // namespace rankcheck::reference::send_recv
