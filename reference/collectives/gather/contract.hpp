#pragma once

#include "reference/spec/collective.hpp"
#include "reference/spec/shapes.hpp"

namespace rankcheck::reference::gather {

/// Every rank gives one block and the root gets the blocks of all ranks, in rank order. The other
/// ranks have a recv buffer too, which stays unchanged. In a call in place, the root's send is its
/// own block of recv.
inline spec::Contract contract() {
  return {
      .name = "gather",
      .summary = "The root gets the blocks of all ranks, in rank order.",
      .formula = "out[root][q c + i] = in[q][i]",
      .source = "ncclGather; MPI_Gather",
      .in_place = spec::InPlace::send_within_recv,
      .part = spec::CollectiveTraits{
          .rooted = true, .extents = [](const spec::Call& call, int rank, spec::Extents& extents) {
            extents.send_size = spec::append_own_block(extents.send, call, rank);
            extents.recv_size = spec::append_all_blocks(extents.recv, call);
            if (rank != call.root) extents.recv.clear();
          }}};
}

}  // namespace rankcheck::reference::gather
