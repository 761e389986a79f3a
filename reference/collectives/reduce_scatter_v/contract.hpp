#pragma once

#include "reference/collectives/reduce_scatter/contract.hpp"
#include "reference/spec/collective.hpp"

namespace rankcheck::reference::reduce_scatter_v {

/// reduce_scatter with blocks of different sizes: rank r gets counts[r] elements. The `gap`
/// elements behind each block of send are unused (MPI has no such gap).
inline spec::Contract contract() {
  spec::Contract contract = reduce_scatter::contract();
  contract.name = "reduce_scatter_v";
  contract.summary =
      "Rank r gets the combination of block r of all ranks. Blocks may have different sizes.";
  contract.formula = "out[r][i] = op over q of in[q][block r][i]";
  contract.source = "MPI_Reduce_scatter";
  collective(contract).sizes = spec::Sizes::counts_per_rank;
  return contract;
}

}  // namespace rankcheck::reference::reduce_scatter_v
