#pragma once

#include "reference/collectives/scatter/contract.hpp"
#include "reference/spec/collective.hpp"

namespace rankcheck::reference::scatter_v {

/// scatter with blocks of different sizes: rank r gets counts[r] elements. The `gap` elements
/// behind each block of the root's send are unused.
inline spec::Contract contract() {
  spec::Contract contract = scatter::contract();
  contract.name = "scatter_v";
  contract.summary = "Rank r gets block r of the root. Blocks may have different sizes.";
  contract.formula = "out[r] = in[root][block r]";
  contract.source = "MPI_Scatterv";
  collective(contract).sizes = spec::Sizes::counts_per_rank;
  return contract;
}

}  // namespace rankcheck::reference::scatter_v
