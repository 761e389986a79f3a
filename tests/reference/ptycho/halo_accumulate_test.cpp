#include <gtest/gtest.h>

#include "reference/ptycho/halo_accumulate/reference.hpp"

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

}  // namespace
}  // namespace rankcheck::reference::halo_accumulate
