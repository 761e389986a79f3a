#pragma once

#include "reference/ptycho/partition.hpp"

namespace rankcheck::reference::partition_compact {

/// Clusters of equal shares, by halving: the positions of ranks a … b-1 are ordered along the
/// longer side of their bounding box (the rows where both are as long), then along the other, then
/// by number; the first go to ranks a … m-1, m = (a + b) / 2 rounded down, as many as these ranks'
/// equal shares hold, the others to m … b-1; and so on until every rank stands alone.
inline spec::Contract contract() {
  return partition_contract(
      "partition_compact",
      "Compact clusters with equal numbers of positions, by halving along the longer side.",
      "split(a, b): the first sum of shares(a … m-1) along the longer side to split(a, m), others "
      "to split(m, b)",
      "after tike cluster.compact; recursive coordinate bisection (Berger and Bokhari 1987)");
}

}  // namespace rankcheck::reference::partition_compact
