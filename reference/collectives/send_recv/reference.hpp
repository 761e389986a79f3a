#pragma once

#include "reference/collectives/piece.hpp"

namespace rankcheck::reference::send_recv {

/// out[r] = in[origin(r)]. A rank that nobody sends to has no output.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference::send_recv
