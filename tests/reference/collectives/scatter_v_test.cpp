#include <gtest/gtest.h>

#include "reference/collectives/references.hpp"
#include "reference/collectives/scatter_v/contract.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::scatter_v {
namespace {

TEST(ScatterVTest, ARankGetsItsBlockWithoutTheGap) {
  // The gap behind the empty block of rank 1 counts, too.
  expect_received(contract(),
                  reference,
                  {.ranks = 3, .root = 0, .counts = {1, 0, 2}, .gap = 1},
                  {{1, 91, 92, 2, 3, 93}, {}, {}},
                  {{1}, {}, {2, 3}});
}

}  // namespace
}  // namespace rankcheck::reference::scatter_v
