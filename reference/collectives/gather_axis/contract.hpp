#pragma once

#include "reference/collectives/all_gather_axis/contract.hpp"
#include "reference/spec/collective.hpp"

namespace rankcheck::reference::gather_axis {

/// all_gather_axis with the result on the root alone. The other ranks have a recv buffer too, which
/// stays unchanged.
inline spec::Contract contract() {
  spec::Contract contract = all_gather_axis::contract();
  contract.name = "gather_axis";
  contract.summary = "The root gets the arrays of all ranks, joined along one axis in rank order.";
  contract.formula = "out[root][(a, s_q + j, b)] = in[q][(a, j, b)]";
  contract.source = "tike, Comm.gather(axis); MPIComm.Gather";
  contract.ranks_agree = false;
  collective(contract).rooted = true;
  collective(contract).extents = [](const spec::Call& call, int rank, spec::Extents& extents) {
    collective(all_gather_axis::contract()).extents(call, rank, extents);
    if (rank != call.root) extents.recv.clear();
  };
  return contract;
}

}  // namespace rankcheck::reference::gather_axis
