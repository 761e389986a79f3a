#pragma once

#include "reference/ptycho/partition.hpp"

namespace rankcheck::reference::partition_quadrants {

/// The bands and halves of tike's PR #72. Let c be the row's cell of n. Band b = c / 2, rounded
/// down, covers ranks 2b and 2b + 1. Rank 2b gets the lower half of the columns, rank 2b + 1 the
/// upper half. If n is odd, the last band has one rank, which gets both halves.
inline spec::Contract contract() {
  return partition_contract(
      "partition_quadrants",
      "Divides the scan into n / 2 bands of rows with two halves of columns each. If n is odd, "
      "there is one more band, which is not halved.",
      "owner = 2 b + h, b = cell(row, n) / 2, h = cell(col, 2), 0 where 2 b + 1 = n",
      "tike PR #72, as_array_multi_split, with its defects fixed");
}

}  // namespace rankcheck::reference::partition_quadrants
