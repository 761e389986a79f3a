#include "reference/collectives/references.hpp"

namespace rankcheck::reference::send_recv {

/// out[r] = in[origin(r)]. A rank that nobody sends to has no output.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (spec::origin(call, rank) == spec::nobody) return;
  pieces.push_back({.recv_offset = 0,
                    .count = call.count,
                    .source = spec::origin(call, rank),
                    .send_offset = 0});
}

}  // namespace rankcheck::reference::send_recv
