#include <gtest/gtest.h>

#include "reference/collectives/all_reduce/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::all_reduce {
namespace {

TEST(AllReduceTest, EveryRankGetsTheSum) {
  expect_received(contract(),
                  reference,
                  {.ranks = 3, .op = spec::ReduceOp::sum, .count = 2},
                  {{1, 2}, {10, 20}, {100, 200}},
                  {{111, 222}, {111, 222}, {111, 222}});
}

}  // namespace
}  // namespace rankcheck::reference::all_reduce
