#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/owners.hpp"

namespace rankcheck::reference::partition_consecutive {
namespace {

TEST(PartitionConsecutiveTest, SharesKeepTheOrderOfThePositions) {
  // The two smallest rows are the second and the last position.
  EXPECT_EQ(owners_of(reference, 2, {{5, 0}, {1, 0}, {4, 0}, {2, 0}}), (Owners{0, 0, 1, 1}));
}

TEST(PartitionConsecutiveTest, TheFirstRanksGetOnePositionMore) {
  EXPECT_EQ(owners_of(reference, 3, four_corners), (Owners{0, 0, 1, 2}));
  EXPECT_EQ(owners_of(reference, 3, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}),
            (Owners{0, 0, 1, 1, 2}));
}

TEST(PartitionConsecutiveTest, MoreRanksThanPositionsGetOneEachAsLongAsThereAreAny) {
  EXPECT_EQ(owners_of(reference, 4, {{2, 0}, {1, 0}}), (Owners{0, 1}));
}

TEST(PartitionConsecutiveTest, ASingleRankGetsAllPositions) {
  EXPECT_EQ(owners_of(reference, 1, four_corners), (Owners{0, 0, 0, 0}));
}

TEST(PartitionConsecutiveTest, NoPositionsHaveNoOwners) {
  EXPECT_EQ(owners_of(reference, 3, {}), Owners{});
}

}  // namespace
}  // namespace rankcheck::reference::partition_consecutive
