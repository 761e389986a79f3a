#include <gtest/gtest.h>

#include "reference/collectives/reduce_list/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::reduce_list {
namespace {

TEST(ReduceListTest, TheRootAloneGetsTheSums) {
  expect_received(contract(),
                  reference,
                  {.ranks = 3, .root = 1, .op = spec::ReduceOp::sum, .counts = {1, 2}, .gap = 1},
                  {{1, 7, 2, 3, 7}, {10, 7, 20, 30, 7}, {100, 7, 200, 300, 7}},
                  {{untouched, untouched, untouched, untouched, untouched},
                   {111, untouched, 222, 333, untouched},
                   {untouched, untouched, untouched, untouched, untouched}});
}

TEST(ReduceListTest, AListMayHaveNoArray) {
  expect_received(
      contract(), reference, {.ranks = 2, .op = spec::ReduceOp::sum}, {{}, {}}, {{}, {}});
}

}  // namespace
}  // namespace rankcheck::reference::reduce_list
