#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/tiles.hpp"

namespace rankcheck::reference::halo_accumulate {
namespace {

using spec::Array;

TEST(HaloAccumulateTest, AddsTheCopies) {
  // Rank 0 holds rows 0 to 2 and rank 1 rows 1 to 3.
  EXPECT_EQ(exchanged(reference, {2, 2}, {1, 2, 3, 10, 20, 30}), (Tiles{1, 12, 23, 12, 23, 30}));
}

TEST(HaloAccumulateTest, AddsTheCopiesOfThreeRanksWithUnevenTiles) {
  // The tiles are row 0, row 1, and rows 2 and 3. The ranks hold rows 0 to 1, 0 to 2, and 1 to 3.
  EXPECT_EQ(exchanged(reference, {1, 1, 2}, {1, 2, 10, 20, 30, 200, 300, 400}),
            (Tiles{11, 222, 11, 222, 330, 222, 330, 400}));
}

TEST(HaloAccumulateTest, AddsTheCopiesInAGridOfTiles) {
  // Pixel (1, 0) has the copies 3, 40, 300 and 4000. Ranks 1 and 3 alone hold the last column.
  const Tiles tiles{1,    2,    3,    4,                  // rank 0: two rows of two columns
                    10,   20,   30,   40,   50,   60,     // rank 1: two rows of three columns
                    100,  200,  300,  400,                // rank 2
                    1000, 2000, 3000, 4000, 5000, 6000};  // rank 3
  EXPECT_EQ(exchanged_in_a_grid(reference, tiles), (Tiles{1111, 2222, 4343, 5454,              //
                                                          1111, 2222, 3030, 4343, 5454, 6060,  //
                                                          1111, 2222, 4343, 5454,              //
                                                          1111, 2222, 3030, 4343, 5454, 6060}));
}

}  // namespace
}  // namespace rankcheck::reference::halo_accumulate
