#pragma once

#include "reference/ptycho/partition.hpp"

namespace rankcheck::reference::partition_compact {

/// Clusters of equal shares, by halving. The positions of ranks a … b-1 are ordered along the
/// longer side of their bounding box. If both sides are equal, they are ordered along the rows.
/// Ties are ordered along the other side, then by number. With m = (a + b) / 2 rounded down, ranks
/// a … m-1 get the first positions, as many as their equal shares hold. Ranks m … b-1 get the
/// others. This repeats until every part belongs to one rank.
inline spec::Contract contract() {
  return partition_contract(
      "partition_compact",
      "Divides the positions into compact clusters of equal numbers by halving along the longer "
      "side.",
      "split(a, b): the first sum of shares(a … m-1) along the longer side to split(a, m), others "
      "to split(m, b)",
      "after tike cluster.compact; recursive coordinate bisection (Berger and Bokhari 1987)");
}

}  // namespace rankcheck::reference::partition_compact
