#pragma once

#include "reference/spec/collective.hpp"
#include "reference/spec/shapes.hpp"

namespace rankcheck::reference::scatter {

/// The root gives one block for each rank, and every rank gets its own block. Only the root has a
/// send buffer. In a call in place, the root's recv is its own block of send.
inline spec::Contract contract() {
  return {
      .name = "scatter",
      .summary = "Rank r gets block r of the root.",
      .formula = "out[r][i] = in[root][r c + i]",
      .source = "ncclScatter; MPI_Scatter",
      .in_place = spec::InPlace::recv_within_send,
      .part = spec::CollectiveTraits{
          .rooted = true, .extents = [](const spec::Call& call, int rank, spec::Extents& extents) {
            if (rank == call.root) extents.send_size = spec::append_all_blocks(extents.send, call);
            extents.recv_size = spec::append_own_block(extents.recv, call, rank);
          }}};
}

}  // namespace rankcheck::reference::scatter
