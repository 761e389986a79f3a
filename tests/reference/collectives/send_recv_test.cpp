#include <gtest/gtest.h>

#include "reference/collectives/references.hpp"
#include "reference/collectives/send_recv/contract.hpp"

#include "tests/reference/collectives/by_hand.hpp"

namespace rankcheck::reference::send_recv {
namespace {

TEST(SendRecvTest, ARingPassesItsElementsOn) {
  expect_received(contract(),
                  reference,
                  {.ranks = 3, .count = 1, .shift = 1},
                  {{1}, {2}, {3}},
                  {{3}, {1}, {2}});
}

TEST(SendRecvTest, ARingTurnsBackWithANegativeShift) {
  expect_received(contract(),
                  reference,
                  {.ranks = 3, .count = 1, .shift = -1},
                  {{1}, {2}, {3}},
                  {{2}, {3}, {1}});
}

TEST(SendRecvTest, PairsExchangeAndTheLastRankKeepsItsOwn) {
  expect_received(contract(),
                  reference,
                  {.ranks = 3, .count = 1, .pattern = spec::Pattern::pairs},
                  {{1}, {2}, {3}},
                  {{2}, {1}, {3}});
}

TEST(SendRecvTest, ARankMaySendToItself) {
  expect_received(contract(),
                  reference,
                  {.ranks = 2, .count = 1, .pattern = spec::Pattern::self},
                  {{1}, {2}},
                  {{1}, {2}});
}

TEST(SendRecvTest, OneWayEvenRanksSendAndOddRanksReceive) {
  expect_received(contract(),
                  reference,
                  {.ranks = 5, .count = 1, .pattern = spec::Pattern::one_way},
                  {{1}, {}, {3}, {}, {}},
                  {{untouched}, {1}, {untouched}, {3}, {untouched}});
}

TEST(SendRecvTest, OneWayALoneRankDoesNothing) {
  expect_received(contract(),
                  reference,
                  {.ranks = 1, .count = 1, .pattern = spec::Pattern::one_way},
                  {{}},
                  {{untouched}});
}

}  // namespace
}  // namespace rankcheck::reference::send_recv
