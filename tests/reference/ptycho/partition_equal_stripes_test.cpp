#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/owners.hpp"

namespace rankcheck::reference::partition_equal_stripes {
namespace {

TEST(PartitionEqualStripesTest, TheFirstRanksGetTheRest) {
  EXPECT_EQ(owners_of(reference, 3, {{3, 0}, {0, 0}, {2, 0}, {1, 0}}), (Owners{2, 0, 1, 0}));
}

TEST(PartitionEqualStripesTest, TiesAreCutInOrder) {
  EXPECT_EQ(owners_of(reference, 2, {{1, 1}, {1, 1}, {1, 1}}), (Owners{0, 0, 1}));
}

TEST(PartitionEqualStripesTest, MoreRanksThanPositionsGetOneEach) {
  EXPECT_EQ(owners_of(reference, 5, {{2, 0}, {1, 0}}), (Owners{1, 0}));
}

}  // namespace
}  // namespace rankcheck::reference::partition_equal_stripes
