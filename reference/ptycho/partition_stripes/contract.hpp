#pragma once

#include "reference/ptycho/partition.hpp"

namespace rankcheck::reference::partition_stripes {

/// Stripes of rows of equal height between the least and the greatest row. A stripe may be empty.
inline spec::Contract contract() {
  return partition_contract("partition_stripes",
                            "Divides the rows of the scan into stripes of equal height.",
                            "owner = cell(row, n)",
                            "tike cluster.by_scan_stripes");
}

}  // namespace rankcheck::reference::partition_stripes
