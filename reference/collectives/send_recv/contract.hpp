#pragma once

#include "reference/spec/collective.hpp"

namespace rankcheck::reference::send_recv {

/// Every rank gives `count` elements to the rank that Call::pattern names and gets `count` elements
/// from the rank that sends to it. A rank may send to itself. With the pattern one_way, a rank has
/// an input only if it sends, and a rank that nobody sends to keeps its output buffer as it was.
inline spec::Contract contract() {
  return {
      .name = "send_recv",
      .summary = "Rank r gets the elements of the rank that sends to it.",
      .formula = "out[r] = in[origin(r)]",
      .source = "ncclSend and ncclRecv in a group; MPI_Sendrecv; CuPy's send and recv (one_way)",
      .part = spec::CollectiveTraits{
          .patterned = true,
          .extents = [](const spec::Call& call, int rank, spec::Extents& extents) {
            if (spec::destination(call, rank) != spec::nobody) {
              extents.send_size = spec::append_even(extents.send, 1, call.count);
            }
            extents.recv_size = call.count;
            if (spec::origin(call, rank) == spec::nobody) return;
            spec::append_even(extents.recv, 1, call.count);
          }}};
}

}  // namespace rankcheck::reference::send_recv
