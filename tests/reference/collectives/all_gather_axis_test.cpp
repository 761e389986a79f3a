#include <gtest/gtest.h>

#include "reference/collectives/all_gather_axis/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::all_gather_axis {
namespace {

TEST(AllGatherAxisTest, JoinsRowsOfMatricesSideBySide) {
  // Rank 0 has [1 2; 3 4], rank 1 has no column, and rank 2 has [5; 6].
  const std::vector<int> joined{1, 2, 5, 3, 4, 6};
  expect_received(contract(),
                  reference,
                  {.ranks = 3, .counts = {2, 0, 1}, .outer = 2},
                  {{1, 2, 3, 4}, {}, {5, 6}},
                  {joined, joined, joined});
}

TEST(AllGatherAxisTest, KeepsTheElementsBehindTheAxisTogether) {
  // The shapes are (2, 1, 2) and (2, 2, 2).
  const std::vector<int> joined{1, 2, 11, 12, 13, 14, 3, 4, 15, 16, 17, 18};
  expect_received(contract(),
                  reference,
                  {.ranks = 2, .counts = {1, 2}, .outer = 2, .inner = 2},
                  {{1, 2, 3, 4}, {11, 12, 13, 14, 15, 16, 17, 18}},
                  {joined, joined});
}

TEST(AllGatherAxisTest, ArraysMayHaveNoElement) {
  expect_received(
      contract(), reference, {.ranks = 2, .counts = {1, 2}, .outer = 0}, {{}, {}}, {{}, {}});
  expect_received(
      contract(), reference, {.ranks = 2, .counts = {1, 2}, .inner = 0}, {{}, {}}, {{}, {}});
}

}  // namespace
}  // namespace rankcheck::reference::all_gather_axis
