#include <gtest/gtest.h>

#include "reference/collectives/references.hpp"
#include "reference/collectives/scatter/contract.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::scatter {
namespace {

TEST(ScatterTest, ARankGetsItsBlockOfTheRoots) {
  expect_received(contract(),
                  reference,
                  {.ranks = 3, .root = 1, .count = 2},
                  {{}, {1, 2, 3, 4, 5, 6}, {}},
                  {{1, 2}, {3, 4}, {5, 6}});
}

}  // namespace
}  // namespace rankcheck::reference::scatter
