#include "reference/collectives/reduce_list/reference.hpp"

#include "reference/collectives/all_reduce_list/reference.hpp"

namespace rankcheck::reference::reduce_list {

void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces) {
  if (rank == call.root) all_reduce_list::reference(call, rank, pieces);
}

}  // namespace rankcheck::reference::reduce_list
