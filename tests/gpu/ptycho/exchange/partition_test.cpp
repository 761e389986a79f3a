#include "gpu/ptycho/exchange/partition.hpp"

#include <array>

#include <gtest/gtest.h>

namespace rankcheck::gpu {
namespace {

TEST(PartitionDeathTest, EveryPositionHasARowAndAColumn) {
  const std::array coordinates{1.0, 2.0, 3.0};
  EXPECT_DEATH(static_cast<void>(owners(Partition::stripes, coordinates, 2)),
               "partition\\.cpp:[0-9]+: this invariant does not hold: positions\\.size\\(\\) % 2");
}

TEST(PartitionDeathTest, SomeRankOwnsThePositions) {
  EXPECT_DEATH(static_cast<void>(owners(Partition::grid, {}, 0)), "ranks > 0");
}

}  // namespace
}  // namespace rankcheck::gpu
