#pragma once

#include "reference/spec/collective.hpp"
#include "reference/spec/shapes.hpp"

namespace rankcheck::reference::reduce_scatter {

/// Every rank gives one block for each rank. Rank r gets the combination of all ranks' blocks r. In
/// a call in place, recv is block r of send.
inline spec::Contract contract() {
  return {
      .name = "reduce_scatter",
      .summary = "Rank r gets the combination of block r of all ranks, index by index.",
      .formula = "out[r][i] = op over q of in[q][r c + i]",
      .source = "ncclReduceScatter; MPI_Reduce_scatter_block",
      .in_place = spec::InPlace::recv_within_send,
      .in_place_overwrites = true,
      .part = spec::CollectiveTraits{
          .reduces = true, .extents = [](const spec::Call& call, int rank, spec::Extents& extents) {
            extents.send_size = spec::append_all_blocks(extents.send, call);
            extents.recv_size = spec::append_own_block(extents.recv, call, rank);
          }}};
}

}  // namespace rankcheck::reference::reduce_scatter
