#pragma once

#include "reference/collectives/piece.hpp"

namespace rankcheck::reference::all_reduce {

/// out[r][i] = op over q of in[q][i], for every rank r.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference::all_reduce
