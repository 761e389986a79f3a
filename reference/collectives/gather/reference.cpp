#include "reference/collectives/references.hpp"

namespace rankcheck::reference::gather {

/// out[root][block q] = in[q]; other ranks have no output.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (rank == call.root) all_gather::reference(call, rank, pieces);
}

}  // namespace rankcheck::reference::gather
