#include "reference/collectives/references.hpp"

namespace rankcheck::reference::reduce_list {

/// See Reference.
void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (rank == call.root) all_reduce_list::reference(call, rank, pieces);
}

}  // namespace rankcheck::reference::reduce_list
