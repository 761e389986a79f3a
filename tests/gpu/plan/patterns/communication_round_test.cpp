#include "gpu/plan/patterns/communication_round.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/collectives/all_gather_v/contract.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/plan/print.hpp"

namespace rankcheck::gpu::plan {

namespace {

/// A plan for an all_gather_v of blocks of these sizes that has a single round.
class CommunicationRoundTest : public testing::Test {
 protected:
  /// Calls fill(round).
  template <class Fill>
  void make_round(std::vector<std::int64_t> counts, const Fill& fill) {
    call_.ranks = static_cast<int>(counts.size());
    call_.counts = std::move(counts);
    builder_.begin(plan_, reference::all_gather_v::contract(), call_, {});
    CommunicationRound round(builder_);
    fill(round);
    round.close();
  }

  /// Returns the kinds of a rank's steps, one letter each. Waits for entries are left out.
  [[nodiscard]] std::string kinds(int rank) const {
    std::string text;
    for (const Step& step : plan_.steps[spec::to_size(rank)]) {
      if (step.kind == StepKind::wait && step.event.id < plan_.ranks()) continue;
      text += "pcrsw"[spec::to_size(step.kind)];
    }
    return text;
  }

  [[nodiscard]] Place recv() const { return recv_blocks(builder_); }

  spec::Call call_;
  Plan plan_;
  Builder builder_;
};

TEST_F(CommunicationRoundTest, SendsBeforeItWaits) {
  make_round({1, 1}, [&](auto& round) {
    round.put(builder_.recv(1, 0), builder_.recv(0, 0));
    round.put(builder_.recv(0, 1), builder_.recv(1, 1));
  });
  EXPECT_EQ(kinds(0), "psw");
  EXPECT_EQ(kinds(1), "psw");
}

TEST_F(CommunicationRoundTest, SharesASignalAmongPutsToOneRank) {
  call_.gap = 1;
  make_round({1, 1, 1}, [&](auto& round) {
    round.put(recv(), 0, 1, {0, 2});
    round.put(recv(), 0, 2, {0, 1});
  });
  EXPECT_EQ(kinds(0), "ppsps");
}

TEST_F(CommunicationRoundTest, MovesNeighbouringBlocksAsOne) {
  make_round({2, 0, 3}, [&](auto& round) { round.put(recv(), 0, 1, {0, 3}); });
  EXPECT_EQ(kinds(0), "ps");
  EXPECT_EQ(plan_.sources.at(0).count, 5);
}

TEST_F(CommunicationRoundTest, BeginsAgainBehindTheLastBlock) {
  make_round({2, 1, 3}, [&](auto& round) { round.put(recv(), 0, 1, {2, 2}); });
  ASSERT_EQ(plan_.sources.size(), 2U);
  EXPECT_EQ(plan_.sources[0].offset, 3);
  EXPECT_EQ(plan_.sources[1].offset, 0);
}

TEST_F(CommunicationRoundTest, LeavesEmptyTransfersOut) {
  make_round({0, 1}, [&](auto& round) { round.put(recv(), 0, 1, {0, 1}); });
  EXPECT_EQ(kinds(0), "");
  EXPECT_EQ(kinds(1), "");
}

TEST_F(CommunicationRoundTest, CopiesWithinARankWithoutSignals) {
  make_round({1, 1}, [&](auto& round) { round.put(builder_.recv(0, 0), builder_.send(0)); });
  EXPECT_EQ(kinds(0), "c");
}

TEST_F(CommunicationRoundTest, TellsWithoutData) {
  make_round({0, 0}, [&](auto& round) { round.tell(1, 0); });
  EXPECT_EQ(kinds(0), "w");
  EXPECT_EQ(kinds(1), "s");
}

}  // namespace

}  // namespace rankcheck::gpu::plan
