#include <gtest/gtest.h>

#include "reference/collectives/all_to_all/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::all_to_all {
namespace {

TEST(AllToAllTest, BlocksAreTransposed) {
  expect_received(contract(),
                  reference,
                  {.ranks = 2, .count = 2},
                  {{1, 2, 3, 4}, {5, 6, 7, 8}},
                  {{1, 2, 5, 6}, {3, 4, 7, 8}});
}

}  // namespace
}  // namespace rankcheck::reference::all_to_all
