#pragma once

#include "reference/collectives/piece.hpp"

namespace rankcheck::reference::broadcast {

/// out[r] = in[root], for every rank r.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference::broadcast
