#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

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

TEST(HaloBlendTest, RampsAlongTheColumnsOfAGridOfTiles) {
  // No edge between tiles ends a box in the rows, so all row ramps are 3. The boxes of ranks 0 and
  // 2 end behind column 1, so their column ramps are 2 and 1. The column ramps of ranks 1 and 3 are
  // 3. So the weights are 6 and 9 in column 0, and 3 and 9 in column 1.
  //   (0, 0): (6 * 5 + 9 * 10) / 30 = 4     (1, 0): (6 * 15 + 9 * 10) / 30 = 6
  //   (0, 1): (3 * 8 + 9 * 16) / 24 = 7     (1, 1): (3 * 8 + 9 * 8) / 24 = 4
  //   (0, 2): (9 * 3 + 9 * 5) / 18 = 4      (1, 2): (9 * 1 + 9 * 3) / 18 = 2
  const Tiles tiles{5,  8,  0,  0,          // rank 0: two rows of two columns
                    10, 16, 3,  0,  0, 1,   // rank 1: two rows of three columns
                    0,  0,  15, 8,          // rank 2
                    0,  0,  5,  10, 8, 3};  // rank 3
  EXPECT_EQ(exchanged_in_a_grid(reference, tiles), (Tiles{4, 7, 6, 4,        //
                                                          4, 7, 4, 6, 4, 2,  //
                                                          4, 7, 6, 4,        //
                                                          4, 7, 4, 6, 4, 2}));
}

}  // namespace
}  // namespace rankcheck::reference::halo_blend
