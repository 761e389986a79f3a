#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/ptycho/exchange/halo.hpp"
#include "gpu/ptycho/exchange/object_shares.hpp"
#include "gpu/ptycho/exchange/partition.hpp"
#include "gpu/ptycho/exchange/redistribution.hpp"
#include "gpu/ptycho/exchange/tiles.hpp"

#include "tests/gpu/ptycho/devices.hpp"

/// What exchanges between ranks rely on: a call that breaks it ends the program and says where.
namespace rankcheck::gpu {
namespace {

constexpr spec::Scene tiled_scene{.rows = 5, .cols = 6, .window = 2, .detector = 2};
constexpr std::array odd_coordinates{1.0, 2.0, 3.0};

std::vector<spec::Box> whole_objects_of(int ranks) {
  return whole_objects(tiled_scene, ranks);
}

class ExchangeDeathTest : public testing::Test {
 protected:
  Devices devices_{2};
};

TEST_F(ExchangeDeathTest, EveryLocalRankHasATileForItsHalo) {
  const spec::Box box{.rows = 1, .cols = 1};
  const Tiling tiling{.rows = 1, .cols = 1, .owned = {box}, .held = {box}};
  Devices one(1);
  const std::vector<const Complex<float>*> in{one.put(0, std::vector<Complex<float>>(1))};
  const std::vector<Complex<float>*> no_tiles;
  EXPECT_DEATH(exchange_halos(one, tiling, Halo::replace, in, no_tiles),
               "halo\\.cpp:[0-9]+: this invariant does not hold: out\\.size\\(\\)");
}

TEST_F(ExchangeDeathTest, APartitionHasPositionsAndRanks) {
  EXPECT_DEATH(static_cast<void>(owners(Partition::stripes, odd_coordinates, 2)),
               "partition\\.cpp:[0-9]+: this invariant does not hold: positions\\.size\\(\\) % 2");
  EXPECT_DEATH(static_cast<void>(owners(Partition::grid, {}, 0)), "ranks > 0");
}

TEST_F(ExchangeDeathTest, ARedistributionHasCountsOwnersAndArrays) {
  EXPECT_DEATH(Redistribution(devices_, {1}, {0}), "redistribution\\.cpp:[0-9]+: .*counts_");
  EXPECT_DEATH(Redistribution(devices_, {2, 1}, {0, 1}), "owners_\\.size\\(\\)");
  Redistribution plan(devices_, {1, 0}, {0});
  const std::vector<const float*> shards{nullptr};
  const std::vector<float*> out{nullptr};
  EXPECT_DEATH(plan.fuse(shards, out, 1), "in\\.size\\(\\) == cluster_\\.local");
}

TEST_F(ExchangeDeathTest, EveryRankHasTiles) {
  Devices three(3);
  EXPECT_DEATH(TileExchange(three, whole_objects_of(2), whole_objects_of(2)),
               "tiles\\.cpp:[0-9]+: this invariant does not hold: given_\\.size\\(\\)");
  EXPECT_DEATH(TileExchange(three, whole_objects_of(3), whole_objects_of(2)), "held_\\.size\\(\\)");
  TileExchange exchange(devices_, whole_objects_of(2), whole_objects_of(2));
  const std::vector<const float*> one_tile{nullptr};
  EXPECT_DEATH(static_cast<void>(exchange.exchange(one_tile)), "tiles\\.size\\(\\)");
  const std::vector<Complex<float>*> tiles{nullptr, nullptr};
  EXPECT_DEATH(assemble(devices_, tiled_scene, whole_objects_of(1), tiles, tiles),
               "held\\.size\\(\\)");
}

TEST_F(ExchangeDeathTest, EveryLocalRankHasSums) {
  ObjectShares shares(devices_, tiled_scene, whole_objects_of(2));
  const std::vector<float*> in{nullptr, nullptr};
  const std::vector<float*> out{nullptr};
  EXPECT_DEATH(shares.sum(in, out), "object_shares\\.cpp:[0-9]+: .*out\\.size\\(\\)");
}

TEST_F(ExchangeDeathTest, EveryLocalRankTellsTheBoxOfItsWindows) {
  EXPECT_DEATH(static_cast<void>(box_of_windows<double>(tiled_scene, odd_coordinates)),
               "positions\\.size\\(\\) % 2 == 0");
  EXPECT_DEATH(static_cast<void>(gather_boxes(devices_, {})), "local\\.empty\\(\\)");
}

}  // namespace
}  // namespace rankcheck::gpu
