#pragma once

#include "reference/spec/collective.hpp"

namespace rankcheck::reference::broadcast {

/// The root gives `count` elements and every rank gets them, including the root. Only the root has
/// a send buffer. In a call in place, the root's recv is its send.
inline spec::Contract contract() {
  return {
      .name = "broadcast",
      .summary = "Every rank gets the root's elements.",
      .formula = "out[r] = in[root]",
      .source = "ncclBroadcast; MPI_Bcast",
      .in_place = spec::InPlace::same,
      .ranks_agree = true,
      .part = spec::CollectiveTraits{
          .rooted = true, .extents = [](const spec::Call& call, int rank, spec::Extents& extents) {
            if (rank == call.root)
              extents.send_size = spec::append_even(extents.send, 1, call.count);
            extents.recv_size = spec::append_even(extents.recv, 1, call.count);
          }}};
}

}  // namespace rankcheck::reference::broadcast
