#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/owners.hpp"

namespace rankcheck::reference::partition_stripes {
namespace {

TEST(PartitionStripesTest, AnEdgeBelongsToTheStripeBelow) {
  EXPECT_EQ(owners_of(reference, 3, {{0, 0}, {1, 0}, {2, 0}, {3, 0}}), (Owners{0, 0, 1, 2}));
}

TEST(PartitionStripesTest, ScansAroundZeroAreCutLikeOthers) {
  EXPECT_EQ(owners_of(reference, 2, {{-1, 0}, {0, 0}, {0.25, 0}, {1, 0}}), (Owners{0, 0, 1, 1}));
}

}  // namespace
}  // namespace rankcheck::reference::partition_stripes
