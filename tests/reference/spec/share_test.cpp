#include "reference/spec/share.hpp"

#include <array>

#include <gtest/gtest.h>

namespace rankcheck::spec {
namespace {

const Scene scene{.rows = 5, .cols = 4, .window = 1, .detector = 1, .tile_cols = 2, .halo = 1};
const std::array<std::int64_t, 4> counts{1, 9, 1, 9};

TEST(ShareTest, TheLastTilesGetWhatIsLeft) {
  EXPECT_EQ(tile_of(scene, counts, 0), (Box{.row = 0, .col = 0, .rows = 1, .cols = 1}));
  EXPECT_EQ(tile_of(scene, counts, 3), (Box{.row = 1, .col = 1, .rows = 4, .cols = 3}));
}

TEST(ShareTest, AHaloEndsWithTheObject) {
  EXPECT_EQ(held_by(scene, counts, 0), (Box{.row = 0, .col = 0, .rows = 2, .cols = 2}));
  EXPECT_EQ(held_by(scene, counts, 3), (Box{.row = 0, .col = 0, .rows = 5, .cols = 4}));
}

TEST(ShareTest, ARankBeyondTheGridHasNothing) {
  const std::array<std::int64_t, 3> of_three{1, 1, 1};
  EXPECT_EQ(held_by(scene, of_three, 2).pixels(), 0);
}

TEST(ShareTest, AnEmptyTileHasNoHalo) {
  const std::array<std::int64_t, 4> empty_row{0, 9, 1, 9};
  EXPECT_EQ(held_by(scene, empty_row, 1).pixels(), 0);
}

TEST(ShareTest, TilesLieBehindOneAnother) {
  EXPECT_EQ(part_of(scene, counts, Array::tile, 1).first, 4);
  EXPECT_EQ(total_of(scene, counts, Array::tile), 4 + 2 * 4 + 5 * 2 + 5 * 4);
}

TEST(ShareTest, AShardHasRoomForAllPositions) {
  const std::array<std::int64_t, 2> of_two{1, 2};
  EXPECT_EQ(part_of(scene, of_two, Array::shard_positions, 1).first, 6);
  EXPECT_EQ(part_of(scene, of_two, Array::shard_positions, 1).count, 6);
  EXPECT_EQ(part_of(scene, of_two, Array::owners, 1).first, 0);
}

}  // namespace
}  // namespace rankcheck::spec
