#pragma once

#include "reference/spec/collective.hpp"

namespace rankcheck::reference::all_reduce {

/// Every rank gives `count` elements and gets the combination of all ranks' elements, index by
/// index. All ranks get the same bits. In a call in place, recv is send.
inline spec::Contract contract() {
  return {.name = "all_reduce",
          .summary = "Every rank gets the combination of all ranks' elements, index by index.",
          .formula = "out[r][i] = op over q of in[q][i]",
          .source = "ncclAllReduce; MPI_Allreduce",
          .in_place = spec::InPlace::same,
          .ranks_agree = true,
          .part = spec::CollectiveTraits{
              .reduces = true, .extents = [](const spec::Call& call, int, spec::Extents& extents) {
                extents.send_size = spec::append_even(extents.send, 1, call.count);
                extents.recv_size = spec::append_even(extents.recv, 1, call.count);
              }}};
}

}  // namespace rankcheck::reference::all_reduce
