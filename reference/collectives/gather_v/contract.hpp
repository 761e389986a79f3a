#pragma once

#include "reference/collectives/gather/contract.hpp"
#include "reference/spec/collective.hpp"

namespace rankcheck::reference::gather_v {

/// gather with blocks of different sizes: rank q gives counts[q] elements, and the root gets them
/// with `gap` unused elements behind each block.
inline spec::Contract contract() {
  spec::Contract contract = gather::contract();
  contract.name = "gather_v";
  contract.summary =
      "The root gets the blocks of all ranks, in rank order. Blocks may have different sizes.";
  contract.formula = "out[root][block q] = in[q]";
  contract.source = "MPI_Gatherv";
  collective(contract).sizes = spec::Sizes::counts_per_rank;
  return contract;
}

}  // namespace rankcheck::reference::gather_v
