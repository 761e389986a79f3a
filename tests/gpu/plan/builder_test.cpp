#include "gpu/plan/builder.hpp"

#include <gtest/gtest.h>

#include "reference/collectives/all_gather/contract.hpp"

namespace rankcheck::gpu::plan {

namespace {

/// A builder for an all_gather of two ranks.
class BuilderDeathTest : public testing::Test {
 protected:
  BuilderDeathTest() { builder_.begin(plan_, reference::all_gather::contract(), call_, {}); }

  const spec::Call call_{.ranks = 2, .count = 1};
  Plan plan_;
  Builder builder_;
};

TEST_F(BuilderDeathTest, HasNoBlockThatTheContractLacks) {
  EXPECT_DEATH(static_cast<void>(builder_.recv(0, 2)), "builder\\.cpp:[0-9]+: this invariant");
}

TEST_F(BuilderDeathTest, HasNoRankThatTheCallLacks) {
  EXPECT_DEATH(static_cast<void>(builder_.signal(2)), "rank < ranks\\(\\)");
}

TEST_F(BuilderDeathTest, CopiesWithinOneRankOnly) {
  EXPECT_DEATH(builder_.copy(builder_.recv(1, 0), builder_.send(0)),
               "destination\\.rank == source\\.rank");
}

}  // namespace

}  // namespace rankcheck::gpu::plan
