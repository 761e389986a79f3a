#pragma once

#include "reference/spec/collective.hpp"

namespace rankcheck::reference::all_to_all_v {

/// Every rank gives one block to each rank and gets one block from each rank. The block from rank r
/// to rank q has counts[r n + q] elements. Both buffers hold their blocks in rank order, with `gap`
/// unused elements behind each block. In a call in place, two ranks give each other blocks of the
/// same size.
inline spec::Contract contract() {
  return {.name = "all_to_all_v",
          .summary =
              "Rank r gets block r of every rank, in rank order. Blocks may have different sizes.",
          .formula = "out[r][block q] = in[q][block r]",
          .source = "MPI_Alltoallv",
          .in_place = spec::InPlace::same,
          .part = spec::CollectiveTraits{
              .sizes = spec::Sizes::counts_per_pair,
              .extents = [](const spec::Call& call, int rank, spec::Extents& extents) {
                const int n = call.ranks;
                extents.send_size = spec::append_uneven(extents.send, call, rank * n, 1, n);
                extents.recv_size = spec::append_uneven(extents.recv, call, rank, n, n);
              }}};
}

}  // namespace rankcheck::reference::all_to_all_v
