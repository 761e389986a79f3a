#pragma once

#include "reference/ptycho/partition.hpp"

namespace rankcheck::reference::partition_random {

/// Equal shares of the positions in an order that looks random but is always the same: by the hash
/// of the number, then by the number. All arithmetic is modulo 2^64. hash(i) is z after z = (i + 1)
/// 0x9e3779b97f4a7c15; z = (z ^ z >> 30) 0xbf58476d1ce4e5b9; z = (z ^ z >> 27) 0x94d049bb133111eb;
/// z = z ^ z >> 31 (SplitMix64).
inline spec::Contract contract() {
  return partition_contract("partition_random",
                            "Gives each rank an equal number of positions, in a pseudorandom order "
                            "that is the same in every run.",
                            "equal shares in the order of (hash(number), number)",
                            "the random part of tike cluster.wobbly_center_random_bootstrap");
}

}  // namespace rankcheck::reference::partition_random
