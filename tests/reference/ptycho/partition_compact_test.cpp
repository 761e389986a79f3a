#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/owners.hpp"

namespace rankcheck::reference::partition_compact {
namespace {

TEST(PartitionCompactTest, ClustersAreCutAlongTheLongerSide) {
  EXPECT_EQ(owners_of(reference, 2, {{0, 0}, {0, 10}, {1, 1}, {1, 9}}), (Owners{0, 1, 0, 1}));
}

TEST(PartitionCompactTest, MoreRanksThanPositionsGetOneEach) {
  EXPECT_EQ(owners_of(reference, 3, {{2, 0}, {1, 0}}), (Owners{1, 0}));
}

}  // namespace
}  // namespace rankcheck::reference::partition_compact
