#pragma once

#include "reference/collectives/piece.hpp"

namespace rankcheck::reference::scatter {

/// out[r] = in[root][block r].
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference::scatter
