#include "reference/collectives/gather_axis/reference.hpp"

#include "reference/collectives/all_gather_axis/reference.hpp"

namespace rankcheck::reference::gather_axis {

void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (rank == call.root) all_gather_axis::reference(call, rank, pieces);
}

}  // namespace rankcheck::reference::gather_axis
