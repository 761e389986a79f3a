#include <gtest/gtest.h>

#include "reference/collectives/gather_axis/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::gather_axis {
namespace {

TEST(GatherAxisTest, TheRootAloneGetsTheJoinedArray) {
  // Rank 0 has [1; 2], and rank 1 has [3 4; 5 6].
  expect_received(contract(),
                  reference,
                  {.ranks = 2, .root = 1, .counts = {1, 2}, .outer = 2},
                  {{1, 2}, {3, 4, 5, 6}},
                  {std::vector<int>(6, untouched), {1, 3, 4, 2, 5, 6}});
}

}  // namespace
}  // namespace rankcheck::reference::gather_axis
