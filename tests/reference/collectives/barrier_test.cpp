#include <gtest/gtest.h>

#include "reference/collectives/barrier/contract.hpp"
#include "reference/collectives/references.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::barrier {
namespace {

TEST(BarrierTest, MovesNothing) {
  expect_received(contract(), reference, {.ranks = 2}, {{}, {}}, {{}, {}});
}

}  // namespace
}  // namespace rankcheck::reference::barrier
