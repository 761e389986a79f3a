#pragma once

#include "reference/collectives/broadcast/contract.hpp"
#include "reference/spec/collective.hpp"

namespace rankcheck::reference::broadcast_list {

/// broadcast of a list of arrays: array l has counts[l] elements, and `gap` unused elements lie
/// behind each array. Only the root has a send buffer. In a call in place, the root's recv is its
/// send.
inline spec::Contract contract() {
  spec::Contract contract = broadcast::contract();
  contract.name = "broadcast_list";
  contract.summary = "Every rank gets the root's list of arrays.";
  contract.formula = "out[r][l] = in[root][l]";
  contract.source = "FluxMPI synchronize!; nnabla bcast of lists";
  collective(contract).sizes = spec::Sizes::counts_per_array;
  collective(contract).extents = [](const spec::Call& call, int rank, spec::Extents& extents) {
    if (rank == call.root) extents.send_size = spec::append_arrays(extents.send, call);
    extents.recv_size = spec::append_arrays(extents.recv, call);
  };
  return contract;
}

}  // namespace rankcheck::reference::broadcast_list
