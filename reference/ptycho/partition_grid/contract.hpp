#pragma once

#include "reference/ptycho/partition.hpp"

namespace rankcheck::reference::partition_grid {

/// A grid of equal cells with R rows and C columns: C is the greatest divisor of n with C * C <= n,
/// and R = n / C.
inline spec::Contract contract() {
  return partition_contract(
      "partition_grid",
      "Divides the scan into a grid of R rows and C columns, R C = n, as square as n allows.",
      "owner = cell(row, R) C + cell(col, C)",
      "tike cluster.by_scan_grid");
}

}  // namespace rankcheck::reference::partition_grid
