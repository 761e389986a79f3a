#include "gpu/plan/builder.hpp"

#include <gtest/gtest.h>

#include "reference/collectives/all_gather/contract.hpp"

namespace rankcheck::gpu::plan {

namespace {

TEST(BuilderDeathTest, HasBlocksAndRanksOfTheCallAndCopiesWithinOneRank) {
  const spec::Call call{.ranks = 2, .count = 1};
  Plan plan;
  Builder builder;
  builder.begin(plan, reference::all_gather::contract(), call, {});
  EXPECT_DEATH(static_cast<void>(builder.recv(0, 2)), "builder\\.cpp:[0-9]+: this invariant");
  EXPECT_DEATH(static_cast<void>(builder.signal(2)), "rank < ranks\\(\\)");
  EXPECT_DEATH(builder.copy(builder.recv(1, 0), builder.send(0)),
               "destination\\.rank == source\\.rank");
}

}  // namespace

}  // namespace rankcheck::gpu::plan
