#include <gtest/gtest.h>

#include "reference/collectives/reduce/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::reduce {
namespace {

TEST(ReduceTest, TheRootAloneGetsTheSum) {
  expect_received(contract(),
                  reference,
                  {.ranks = 3, .root = 2, .op = spec::ReduceOp::sum, .count = 2},
                  {{1, 2}, {10, 20}, {100, 200}},
                  {{untouched, untouched}, {untouched, untouched}, {111, 222}});
}

}  // namespace
}  // namespace rankcheck::reference::reduce
