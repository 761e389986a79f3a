#include <gtest/gtest.h>

#include "reference/collectives/gather_v/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::gather_v {
namespace {

TEST(GatherVTest, TheRootAloneGetsAllBlocksAndKeepsItsGaps) {
  expect_received(
      contract(),
      reference,
      {.ranks = 2, .root = 1, .counts = {1, 2}, .gap = 1},
      {{1}, {2, 3}},
      {{untouched, untouched, untouched, untouched, untouched}, {1, untouched, 2, 3, untouched}});
}

}  // namespace
}  // namespace rankcheck::reference::gather_v
