#pragma once

#include "reference/spec/collective.hpp"

namespace rankcheck::reference::reduce {

/// Every rank gives `count` elements and the root gets their combination, index by index. The other
/// ranks have a recv buffer too, which stays unchanged. In a call in place, the root's recv is its
/// send.
inline spec::Contract contract() {
  return {.name = "reduce",
          .summary = "The root gets the combination of all ranks' elements, index by index.",
          .formula = "out[root][i] = op over q of in[q][i]",
          .source = "ncclReduce; MPI_Reduce",
          .in_place = spec::InPlace::same,
          .part = spec::CollectiveTraits{
              .reduces = true,
              .rooted = true,
              .extents = [](const spec::Call& call, int rank, spec::Extents& extents) {
                extents.send_size = spec::append_even(extents.send, 1, call.count);
                extents.recv_size = spec::append_even(extents.recv, 1, call.count);
                if (rank != call.root) extents.recv.clear();
              }}};
}

}  // namespace rankcheck::reference::reduce
