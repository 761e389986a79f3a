#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/tiles.hpp"

namespace rankcheck::reference::halo_replace {
namespace {

using spec::Array;

TEST(HaloReplaceTest, TakesTheOwnersCopy) {
  // Rank 0 holds rows 0 to 2 and rank 1 rows 1 to 3.
  EXPECT_EQ(exchanged(reference, {2, 2}, {1, 2, 3, 10, 20, 30}), (Tiles{1, 2, 20, 2, 20, 30}));
}

TEST(HaloReplaceTest, TakesTheOwnersCopyOfThreeRanksWithUnevenTiles) {
  // The tiles are row 0, row 1, and rows 2 and 3. The ranks hold rows 0 to 1, 0 to 2, and 1 to 3.
  EXPECT_EQ(exchanged(reference, {1, 1, 2}, {1, 2, 10, 20, 30, 200, 300, 400}),
            (Tiles{1, 20, 1, 20, 300, 20, 300, 400}));
}

TEST(HaloReplaceTest, TakesTheOwnersCopyInAGridOfTiles) {
  // The owners' copies are 1 of rank 0, 20 and 30 of rank 1, 300 of rank 2, and 5000 and 6000 of
  // rank 3.
  const Tiles tiles{1,    2,    3,    4,                  // rank 0: two rows of two columns
                    10,   20,   30,   40,   50,   60,     // rank 1: two rows of three columns
                    100,  200,  300,  400,                // rank 2
                    1000, 2000, 3000, 4000, 5000, 6000};  // rank 3
  EXPECT_EQ(exchanged_in_a_grid(reference, tiles), (Tiles{1, 20, 300, 5000,              //
                                                          1, 20, 30,  300,  5000, 6000,  //
                                                          1, 20, 300, 5000,              //
                                                          1, 20, 30,  300,  5000, 6000}));
}

}  // namespace
}  // namespace rankcheck::reference::halo_replace
