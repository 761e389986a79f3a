#include "reference/collectives/gather/reference.hpp"

#include "reference/collectives/all_gather/reference.hpp"

namespace rankcheck::reference::gather {

void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (rank == call.root) all_gather::reference(call, rank, pieces);
}

}  // namespace rankcheck::reference::gather
