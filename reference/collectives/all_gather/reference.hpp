#pragma once

#include "reference/collectives/piece.hpp"

namespace rankcheck::reference::all_gather {

/// out[r][block q] = in[q], for every rank r.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference::all_gather
