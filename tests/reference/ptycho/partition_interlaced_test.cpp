#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/owners.hpp"

namespace rankcheck::reference::partition_interlaced {
namespace {

TEST(PartitionInterlacedTest, PositionsGoRound) {
  EXPECT_EQ(owners_of(reference, 3, four_corners), (Owners{0, 1, 2, 0}));
}

}  // namespace
}  // namespace rankcheck::reference::partition_interlaced
