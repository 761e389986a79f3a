#include "gpu/ptycho/exchange/redistribution.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "tests/gpu/ptycho/devices.hpp"

namespace rankcheck::gpu {
namespace {

TEST(RedistributionDeathTest, EveryRankHasACount) {
  Devices devices(2);
  EXPECT_DEATH(Redistribution(devices, {1}, {0}), "redistribution\\.cpp:[0-9]+: .*counts_");
}

TEST(RedistributionDeathTest, EveryPositionHasAnOwner) {
  Devices devices(2);
  EXPECT_DEATH(Redistribution(devices, {2, 1}, {0, 1}), "owners_\\.size\\(\\)");
}

TEST(RedistributionDeathTest, EveryLocalRankHasArrays) {
  Devices devices(2);
  Redistribution plan(devices, {1, 0}, {0});
  const std::vector<const float*> shards{nullptr};
  const std::vector<float*> out{nullptr};
  EXPECT_DEATH(plan.fuse(shards, out, 1), "in\\.size\\(\\) == cluster_\\.local");
}

}  // namespace
}  // namespace rankcheck::gpu
