#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/owners.hpp"

namespace rankcheck::reference::partition_random {
namespace {

TEST(PartitionRandomTest, PositionsAreOrderedByTheirHash) {
  // The first outputs of SplitMix64 from 0 begin with e220, 6e78, 06c4, f88b and 1b39, as its
  // author's program prints. So the order is 2, 4, 1 for rank 0, and 0, 3 for rank 1.
  EXPECT_EQ(owners_of(reference, 2, {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}}),
            (Owners{1, 0, 0, 1, 0}));
}

TEST(PartitionRandomTest, WhereAPositionLiesDoesNotMatter) {
  EXPECT_EQ(owners_of(reference, 2, {{9, 4}, {-3, 1}, {5, 2}, {7, 3}, {7, 3}}),
            (Owners{1, 0, 0, 1, 0}));
}

}  // namespace
}  // namespace rankcheck::reference::partition_random
