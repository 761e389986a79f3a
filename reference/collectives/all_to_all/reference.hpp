#pragma once

#include "reference/collectives/piece.hpp"

namespace rankcheck::reference::all_to_all {

/// out[r][block q] = in[q][block r].
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference::all_to_all
