#pragma once

#include "reference/spec/contract.hpp"

namespace rankcheck::reference::all_to_all_v {

/// Every rank gives a block to each rank and gets one from each; counts[r n + q] is the size of the
/// block from rank r to rank q. Both buffers hold their blocks in rank order, `gap` elements behind
/// each.
inline spec::Contract contract() {
  return {
      .name = "all_to_all_v",
      .summary = "Rank r gets block r of every rank, in rank order, the blocks of different sizes.",
      .formula = "out[r][block q] = in[q][block r]",
      .source = "MPI_Alltoallv",
      .sizes = spec::Sizes::counts_per_pair,
      .extents =
          [](const spec::Call& call, int rank, spec::Extents& extents) {
            const int n = call.ranks;
            extents.send_size = spec::append_uneven(extents.send, call, rank * n, 1, n);
            extents.recv_size = spec::append_uneven(extents.recv, call, rank, n, n);
          },
  };
}

}  // namespace rankcheck::reference::all_to_all_v
