#pragma once

#include "reference/ptycho/partition.hpp"

namespace rankcheck::reference::partition_interlaced {

/// The ranks take the positions in turns, wherever they lie: every rank sees the whole object.
inline spec::Contract contract() {
  return partition_contract("partition_interlaced",
                            "Assigns the positions to the ranks in turn.",
                            "owner = number mod n",
                            "ptypy's distribution of frames; tike's random batches");
}

}  // namespace rankcheck::reference::partition_interlaced
