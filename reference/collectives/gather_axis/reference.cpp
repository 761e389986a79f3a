#include "reference/collectives/references.hpp"

namespace rankcheck::reference::gather_axis {

/// See Reference.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (rank == call.root) all_gather_axis::reference(call, rank, pieces);
}

}  // namespace rankcheck::reference::gather_axis
