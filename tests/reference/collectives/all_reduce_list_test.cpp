#include <gtest/gtest.h>

#include "reference/collectives/all_reduce_list/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::all_reduce_list {
namespace {

TEST(AllReduceListTest, EveryArrayIsSummedOverTheRanks) {
  expect_received(contract(),
                  reference,
                  {.ranks = 2, .op = spec::ReduceOp::sum, .counts = {2, 0, 1}},
                  {{1, 2, 3}, {10, 20, 30}},
                  {{11, 22, 33}, {11, 22, 33}});
}

TEST(AllReduceListTest, GapsBehindArraysStayUntouched) {
  expect_received(contract(),
                  reference,
                  {.ranks = 2, .op = spec::ReduceOp::sum, .counts = {2, 0, 1}, .gap = 1},
                  {{1, 2, 7, 7, 3, 7}, {10, 20, 7, 7, 30, 7}},
                  {{11, 22, untouched, untouched, 33, untouched},
                   {11, 22, untouched, untouched, 33, untouched}});
}

TEST(AllReduceListTest, AListMayHaveNoArray) {
  expect_received(
      contract(), reference, {.ranks = 2, .op = spec::ReduceOp::sum}, {{}, {}}, {{}, {}});
}

}  // namespace
}  // namespace rankcheck::reference::all_reduce_list
