#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/owners.hpp"

namespace rankcheck::reference::partition_quadrants {
namespace {

TEST(PartitionQuadrantsTest, QuadrantsOfFourAreTheCorners) {
  EXPECT_EQ(owners_of(reference, 4, four_corners), (Owners{0, 1, 2, 3}));
}

TEST(PartitionQuadrantsTest, NoOddRankIsLeftEmpty) {
  EXPECT_EQ(owners_of(reference, 3, four_corners), (Owners{0, 1, 2, 2}));
  EXPECT_EQ(owners_of(reference, 1, four_corners), (Owners{0, 0, 0, 0}));
}

}  // namespace
}  // namespace rankcheck::reference::partition_quadrants
