#include "gpu/plan/patterns/partials.hpp"

#include <cstddef>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "reference/collectives/reduce_scatter/contract.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::plan {

namespace {

/// Three ranks with blocks of two elements.
class PartialsTest : public testing::Test {
 protected:
  PartialsTest() {
    call_.ranks = 3;
    call_.op = spec::ReduceOp::sum;
    call_.count = 2;
    builder_.begin(plan_, reference::reduce_scatter::contract(), call_, {});
    partials_.emplace(builder_, send_blocks(builder_), 3);
  }

  [[nodiscard]] std::vector<Step> steps(int rank, StepKind kind) const {
    std::vector<Step> found;
    for (const Step& step : plan_.steps[spec::to_size(rank)]) {
      if (step.kind == kind) found.push_back(step);
    }
    return found;
  }

  spec::Call call_;
  Plan plan_;
  Builder builder_;
  std::optional<Partials> partials_;
};

TEST_F(PartialsTest, SendAContributionAsItIs) {
  partials_->send(0, 1, 1, 3);
  EXPECT_TRUE(steps(0, StepKind::reduce).empty());
  ASSERT_EQ(steps(0, StepKind::put).size(), 1U);
  EXPECT_EQ(plan_.sources_of(steps(0, StepKind::put)[0])[0].buffer, Buffer::send);
  EXPECT_EQ(plan_.scratch[1], 4);
}

TEST_F(PartialsTest, CombineBeforeTheyAreSentOn) {
  partials_->send(0, 1, 0, 1);
  partials_->send(1, 2, 0, 1);
  ASSERT_EQ(steps(1, StepKind::reduce).size(), 1U);
  EXPECT_EQ(steps(1, StepKind::reduce)[0].source_count, 2U);
  EXPECT_FALSE(steps(1, StepKind::reduce)[0].finish);
}

TEST_F(PartialsTest, DoNotMixBlocks) {
  partials_->send(0, 1, 0, 1);
  partials_->send(1, 2, 1, 2);
  EXPECT_TRUE(steps(1, StepKind::reduce).empty());
}

TEST_F(PartialsTest, CombineAllAtOnceWhenDelivered) {
  partials_->send(0, 2, 2, 3);
  partials_->send(1, 2, 2, 3);
  partials_->deliver(builder_.recv(2), 2, 2);
  ASSERT_EQ(steps(2, StepKind::reduce).size(), 1U);
  EXPECT_EQ(steps(2, StepKind::reduce)[0].source_count, 3U);
  EXPECT_TRUE(steps(2, StepKind::reduce)[0].finish);
}

TEST_F(PartialsTest, FinishOnTheWayToAnotherRank) {
  partials_->send(1, 0, 1, 2);
  partials_->deliver(builder_.recv(1), 0, 1);
  ASSERT_EQ(steps(0, StepKind::put).size(), 1U);
  EXPECT_TRUE(steps(0, StepKind::put)[0].finish);
  EXPECT_FALSE(steps(0, StepKind::reduce)[0].finish);
}

}  // namespace

}  // namespace rankcheck::gpu::plan
