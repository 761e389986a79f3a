#pragma once

#include "reference/collectives/all_reduce/contract.hpp"
#include "reference/spec/collective.hpp"

namespace rankcheck::reference::all_reduce_list {

/// all_reduce of a list of arrays. Every rank gives the same number of arrays, and array l has
/// counts[l] elements on every rank. `gap` unused elements lie behind each array. In a call in
/// place, recv is send.
inline spec::Contract contract() {
  spec::Contract contract = all_reduce::contract();
  contract.name = "all_reduce_list";
  contract.summary =
      "Every rank gets, for each array of a list, the combination of all ranks' arrays.";
  contract.formula = "out[r][l][i] = op over q of in[q][l][i]";
  contract.source = "FluxMPI allreduce_gradients; nnabla all_reduce of lists";
  collective(contract).sizes = spec::Sizes::counts_per_array;
  collective(contract).extents = [](const spec::Call& call, int, spec::Extents& extents) {
    extents.send_size = spec::append_arrays(extents.send, call);
    extents.recv_size = spec::append_arrays(extents.recv, call);
  };
  return contract;
}

}  // namespace rankcheck::reference::all_reduce_list
