#include <gtest/gtest.h>

#include "reference/ptycho/halo_replace/reference.hpp"

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

}  // namespace
}  // namespace rankcheck::reference::halo_replace
