#pragma once

#include "reference/spec/collective.hpp"
#include "reference/spec/shapes.hpp"

namespace rankcheck::reference::all_to_all {

/// Every rank gives one block to each rank and gets one block from each rank: the transpose of the
/// blocks. In a call in place, recv is send; few implementations accept this.
inline spec::Contract contract() {
  return {.name = "all_to_all",
          .summary = "Rank r gets block r of every rank, in rank order.",
          .formula = "out[r][q c + i] = in[q][r c + i]",
          .source = "ncclAlltoAll; MPI_Alltoall",
          .in_place = spec::InPlace::same,
          .part = spec::CollectiveTraits{
              .extents = [](const spec::Call& call, int, spec::Extents& extents) {
                extents.send_size = spec::append_all_blocks(extents.send, call);
                extents.recv_size = spec::append_all_blocks(extents.recv, call);
              }}};
}

}  // namespace rankcheck::reference::all_to_all
