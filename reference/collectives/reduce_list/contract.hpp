#pragma once

#include "reference/collectives/reduce/contract.hpp"
#include "reference/spec/collective.hpp"

namespace rankcheck::reference::reduce_list {

/// reduce of a list of arrays. Every rank gives the same number of arrays, and array l has
/// counts[l] elements on every rank. `gap` unused elements lie behind each array. The other ranks
/// have a recv buffer too, which stays unchanged. In a call in place, the root's recv is its send.
inline spec::Contract contract() {
  spec::Contract contract = reduce::contract();
  contract.name = "reduce_list";
  contract.summary =
      "The root gets, for each array of a list, the combination of all ranks' arrays.";
  contract.formula = "out[root][l][i] = op over q of in[q][l][i]";
  contract.source = "nnabla reduce of lists";
  collective(contract).sizes = spec::Sizes::counts_per_array;
  collective(contract).extents = [](const spec::Call& call, int rank, spec::Extents& extents) {
    extents.send_size = spec::append_arrays(extents.send, call);
    extents.recv_size = spec::append_arrays(extents.recv, call);
    if (rank != call.root) extents.recv.clear();
  };
  return contract;
}

}  // namespace rankcheck::reference::reduce_list
