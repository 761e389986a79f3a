#include <gtest/gtest.h>

#include "reference/collectives/reduce_scatter/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::reduce_scatter {
namespace {

TEST(ReduceScatterTest, ARankGetsTheSumOfItsBlocks) {
  expect_received(contract(),
                  reference,
                  {.ranks = 2, .op = spec::ReduceOp::sum, .count = 2},
                  {{1, 2, 3, 4}, {10, 20, 30, 40}},
                  {{11, 22}, {33, 44}});
}

}  // namespace
}  // namespace rankcheck::reference::reduce_scatter
