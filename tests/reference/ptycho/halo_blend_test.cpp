#include <gtest/gtest.h>

#include "reference/ptycho/halo_blend/reference.hpp"

#include "tests/reference/ptycho/tiles.hpp"

namespace rankcheck::reference::halo_blend {
namespace {

using spec::Array;

TEST(HaloBlendTest, RampsFromOneTileToTheOther) {
  // Rank 0 holds rows 0 to 2 and rank 1 rows 1 to 3. The weights are 2 and 1 in row 1,
  // and 1 and 2 in row 2.
  EXPECT_EQ(exchanged(reference, {2, 2}, {1, 3, 6, 9, 12, 30}), (Tiles{1, 5, 10, 5, 10, 30}));
}

TEST(HaloBlendTest, TreatsNeighboursAlike) {
  EXPECT_EQ(exchanged(reference, {2, 2}, {30, 12, 9, 6, 3, 1}), (Tiles{30, 10, 5, 10, 5, 1}));
}

TEST(HaloBlendTest, RampsOverThreeRanksWithUnevenTiles) {
  // The tiles are row 0, row 1, and rows 2 and 3. The ranks hold rows 0 to 1, 0 to 2, and 1 to 3.
  // The weights are 2 and 3 in row 0, 1, 2 and 1 in row 1, and 1 and 2 in row 2.
  EXPECT_EQ(exchanged(reference, {1, 1, 2}, {5, 4, 10, 6, 3, 12, 9, 1}),
            (Tiles{8, 7, 8, 7, 7, 7, 7, 1}));
}

}  // namespace
}  // namespace rankcheck::reference::halo_blend
