#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/owners.hpp"

namespace rankcheck::reference::partition_grid {
namespace {

TEST(PartitionGridTest, AGridHasNoMoreColumnsThanRows) {
  // Six ranks have three rows of two columns.
  EXPECT_EQ(owners_of(reference, 6, {{0, 0}, {3, 0}, {6, 4}}), (Owners{0, 2, 5}));
}

TEST(PartitionGridTest, APrimeNumberOfRanksHasOneColumn) {
  EXPECT_EQ(owners_of(reference, 5, {{0, 0}, {0, 4}, {2, 0}, {5, 4}}), (Owners{0, 0, 1, 4}));
}

}  // namespace
}  // namespace rankcheck::reference::partition_grid
