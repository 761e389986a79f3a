#pragma once

#include "reference/collectives/piece.hpp"

namespace rankcheck::reference::gather {

/// out[root][block q] = in[q]; other ranks have no output.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces);

}  // namespace rankcheck::reference::gather
