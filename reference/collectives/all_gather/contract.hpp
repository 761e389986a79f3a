#pragma once

#include "reference/spec/collective.hpp"
#include "reference/spec/shapes.hpp"

namespace rankcheck::reference::all_gather {

/// Every rank gives one block and gets the blocks of all ranks, in rank order. All ranks get the
/// same bits. In a call in place, send is block r of recv.
inline spec::Contract contract() {
  return {.name = "all_gather",
          .summary = "Every rank gets the blocks of all ranks, in rank order.",
          .formula = "out[r][q c + i] = in[q][i]",
          .source = "ncclAllGather; MPI_Allgather",
          .in_place = spec::InPlace::send_within_recv,
          .ranks_agree = true,
          .part = spec::CollectiveTraits{
              .extents = [](const spec::Call& call, int rank, spec::Extents& extents) {
                extents.send_size = spec::append_own_block(extents.send, call, rank);
                extents.recv_size = spec::append_all_blocks(extents.recv, call);
              }}};
}

}  // namespace rankcheck::reference::all_gather
