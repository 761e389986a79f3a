#include <gtest/gtest.h>

#include "reference/collectives/gather/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::gather {
namespace {

TEST(GatherTest, TheRootAloneGetsAllBlocks) {
  expect_received(
      contract(),
      reference,
      {.ranks = 3, .root = 1, .count = 1},
      {{1}, {2}, {3}},
      {{untouched, untouched, untouched}, {1, 2, 3}, {untouched, untouched, untouched}});
}

}  // namespace
}  // namespace rankcheck::reference::gather
