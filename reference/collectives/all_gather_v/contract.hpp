#pragma once

#include "reference/collectives/all_gather/contract.hpp"
#include "reference/spec/collective.hpp"

namespace rankcheck::reference::all_gather_v {

/// all_gather with blocks of different sizes: rank q gives counts[q] elements, and every rank gets
/// them with `gap` unused elements behind each block.
inline spec::Contract contract() {
  spec::Contract contract = all_gather::contract();
  contract.name = "all_gather_v";
  contract.summary =
      "Every rank gets the blocks of all ranks, in rank order. Blocks may have different sizes.";
  contract.formula = "out[r][block q] = in[q]";
  contract.source = "MPI_Allgatherv";
  collective(contract).sizes = spec::Sizes::counts_per_rank;
  return contract;
}

}  // namespace rankcheck::reference::all_gather_v
