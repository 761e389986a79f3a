#include <gtest/gtest.h>

#include "reference/collectives/all_gather/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::all_gather {
namespace {

TEST(AllGatherTest, EveryRankGetsAllBlocksInRankOrder) {
  expect_received(contract(),
                  reference,
                  {.ranks = 3, .count = 2},
                  {{1, 2}, {3, 4}, {5, 6}},
                  {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}});
}

}  // namespace
}  // namespace rankcheck::reference::all_gather
