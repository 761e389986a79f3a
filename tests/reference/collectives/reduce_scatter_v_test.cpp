#include <gtest/gtest.h>

#include "reference/collectives/reduce_scatter_v/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::reduce_scatter_v {
namespace {

TEST(ReduceScatterVTest, ARankGetsTheSumOfItsBlocks) {
  expect_received(contract(),
                  reference,
                  {.ranks = 2, .op = spec::ReduceOp::sum, .counts = {1, 2}},
                  {{1, 2, 3}, {10, 20, 30}},
                  {{11}, {22, 33}});
}

TEST(ReduceScatterVTest, GapsBehindBlocksAreSkipped) {
  expect_received(contract(),
                  reference,
                  {.ranks = 2, .op = spec::ReduceOp::sum, .counts = {1, 1}, .gap = 1},
                  {{1, 91, 2, 92}, {10, 93, 20, 94}},
                  {{11}, {22}});
}

}  // namespace
}  // namespace rankcheck::reference::reduce_scatter_v
