#pragma once

#include "reference/collectives/piece.hpp"

namespace rankcheck::reference::barrier {

/// No values.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference::barrier
