#pragma once

#include "reference/ptycho/partition.hpp"

namespace rankcheck::reference::partition_consecutive {

/// Equal shares in the order of the data: each rank gets positions with consecutive numbers,
/// wherever they lie. If there are fewer positions than ranks, the last ranks get none.
inline spec::Contract contract() {
  return partition_contract("partition_consecutive",
                            "Divides the positions, in their own order, into consecutive shares of "
                            "equal numbers.",
                            "owner = the largest r with r floor(N / n) + min(r, N mod n) <= number",
                            "FluxMPI DistributedDataContainer, whose shares are rounded up");
}

}  // namespace rankcheck::reference::partition_consecutive
