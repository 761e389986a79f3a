#include <gtest/gtest.h>

#include "reference/collectives/broadcast_list/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::broadcast_list {
namespace {

TEST(BroadcastListTest, EveryRankGetsTheRootsArrays) {
  expect_received(contract(),
                  reference,
                  {.ranks = 3, .root = 2, .counts = {1, 0, 2}},
                  {{}, {}, {1, 2, 3}},
                  {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}});
}

TEST(BroadcastListTest, GapsBehindArraysStayUntouched) {
  expect_received(contract(),
                  reference,
                  {.ranks = 2, .counts = {1, 2}, .gap = 2},
                  {{1, 7, 7, 2, 3, 7, 7}, {}},
                  {{1, untouched, untouched, 2, 3, untouched, untouched},
                   {1, untouched, untouched, 2, 3, untouched, untouched}});
}

TEST(BroadcastListTest, AListMayHaveNoArray) {
  expect_received(contract(), reference, {.ranks = 2}, {{}, {}}, {{}, {}});
}

}  // namespace
}  // namespace rankcheck::reference::broadcast_list
