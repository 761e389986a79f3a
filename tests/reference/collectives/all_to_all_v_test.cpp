#include <gtest/gtest.h>

#include "reference/collectives/all_to_all_v/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::all_to_all_v {
namespace {

TEST(AllToAllVTest, BlocksOfAnySizesAreTransposed) {
  // Rank 0 sends one element to itself and two to rank 1. Rank 1 sends none to rank 0 and one to
  // itself.
  expect_received(contract(),
                  reference,
                  {.ranks = 2, .counts = {1, 2, 0, 1}},
                  {{1, 2, 3}, {4}},
                  {{1}, {2, 3, 4}});
}

TEST(AllToAllVTest, GapsBehindBlocksAreSkippedAndStayUntouched) {
  expect_received(contract(),
                  reference,
                  {.ranks = 2, .counts = {1, 1, 1, 1}, .gap = 1},
                  {{1, 91, 2, 92}, {3, 93, 4, 94}},
                  {{1, untouched, 3, untouched}, {2, untouched, 4, untouched}});
}

}  // namespace
}  // namespace rankcheck::reference::all_to_all_v
