#include <gtest/gtest.h>

#include "reference/collectives/reduce_axis/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::reduce_axis {
namespace {

TEST(ReduceAxisTest, TheRootGetsTheSumOfAllRows) {
  // The shapes are (2, 2, 2), (2, 0, 2) and (2, 1, 2).
  expect_received(
      contract(),
      reference,
      {.ranks = 3,
       .root = 2,
       .op = spec::ReduceOp::sum,
       .counts = {2, 0, 1},
       .outer = 2,
       .inner = 2},
      {{1, 2, 10, 20, 3, 4, 30, 40}, {}, {100, 200, 300, 400}},
      {std::vector<int>(4, untouched), std::vector<int>(4, untouched), {111, 222, 333, 444}});
}

TEST(ReduceAxisTest, OneRankCombinesItsOwnRows) {
  expect_received(contract(),
                  reference,
                  {.op = spec::ReduceOp::sum, .counts = {3}, .inner = 2},
                  {{1, 2, 10, 20, 100, 200}},
                  {{111, 222}});
}

TEST(ReduceAxisTest, CountsRowsForTheAverage) {
  EXPECT_EQ(spec::terms(contract(), {.ranks = 3, .counts = {2, 0, 5}}), 7);
}

}  // namespace
}  // namespace rankcheck::reference::reduce_axis
