#pragma once

#include "reference/collectives/piece.hpp"

namespace rankcheck::reference::all_gather_axis {

/// See Reference.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference::all_gather_axis
