#include <gtest/gtest.h>

#include "reference/collectives/broadcast/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::broadcast {
namespace {

TEST(BroadcastTest, EveryRankGetsTheRootsElements) {
  expect_received(contract(),
                  reference,
                  {.ranks = 3, .root = 1, .count = 2},
                  {{}, {7, 8}, {}},
                  {{7, 8}, {7, 8}, {7, 8}});
}

}  // namespace
}  // namespace rankcheck::reference::broadcast
