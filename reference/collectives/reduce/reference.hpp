#pragma once

#include "reference/collectives/piece.hpp"

namespace rankcheck::reference::reduce {

/// out[root][i] = op over q of in[q][i]; other ranks have no output.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference::reduce
