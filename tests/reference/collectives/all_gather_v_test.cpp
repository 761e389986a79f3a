#include <gtest/gtest.h>

#include "reference/collectives/all_gather_v/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::all_gather_v {
namespace {

TEST(AllGatherVTest, BlocksMayBeEmpty) {
  expect_received(contract(),
                  reference,
                  {.ranks = 3, .counts = {1, 0, 2}},
                  {{1}, {}, {2, 3}},
                  {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}});
}

TEST(AllGatherVTest, GapsBehindBlocksStayUntouched) {
  expect_received(contract(),
                  reference,
                  {.ranks = 2, .counts = {1, 2}, .gap = 1},
                  {{1}, {2, 3}},
                  {{1, untouched, 2, 3, untouched}, {1, untouched, 2, 3, untouched}});
}

}  // namespace
}  // namespace rankcheck::reference::all_gather_v
