#pragma once

#include "reference/ptycho/partition.hpp"

namespace rankcheck::reference::partition_equal_stripes {

/// Stripes of rows that hold equal shares: positions are ordered by row, then column, then number.
inline spec::Contract contract() {
  return partition_contract(
      "partition_equal_stripes",
      "Divides the positions into stripes of rows with equal numbers of positions.",
      "equal shares in the order of (row, col, number)",
      "tike cluster.stripes_equal_count");
}

}  // namespace rankcheck::reference::partition_equal_stripes
