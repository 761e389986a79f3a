#pragma once

#include "reference/collectives/piece.hpp"

namespace rankcheck::reference::reduce_scatter {

/// out[r][i] = op over q of in[q][block r][i].
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference::reduce_scatter
