#include "gpu/plan/merge.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gpu/plan/sketch.hpp"

namespace rankcheck::gpu::plan {
namespace {

/// Two ranks: rank 0 sends to rank 1.
Plan message() {
  Sketch sketch(2);
  send_to_1(sketch.builder);
  return sketch.plan;
}

/// One rank that copies its input.
Plan copy_alone() {
  Sketch sketch(1);
  sketch.builder.copy(sketch.builder.recv(0), sketch.builder.send(0));
  return sketch.plan;
}

Plan merged_of(const std::vector<Plan>& plans) {
  Plan merged;
  merge(plans, merged);
  return merged;
}

TEST(MergeTest, PutsTheRanksOfTheGroupsOneBehindAnother) {
  const Plan merged = merged_of({copy_alone(), message()});
  EXPECT_EQ(merged.ranks(), 3);
  EXPECT_EQ(merged.groups, (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(merged.divisors.at(0), 1);
  EXPECT_EQ(merged.divisors.at(2), 2);
  EXPECT_FALSE(merged.share_call(0, 1));
  EXPECT_TRUE(merged.share_call(1, 2));
}

TEST(MergeTest, KeepsTheLateRankOfEachGroup) {
  Plan late = message();
  late.late = {1};
  EXPECT_EQ(merged_of({copy_alone(), late, late}).late, (std::vector<std::int32_t>{2, 4}));
}

TEST(MergeTest, KeepsTheMessagesOfAGroupInTheGroup) {
  const Plan merged = merged_of({copy_alone(), message()});
  for (const Step& step : merged.steps[1]) {
    if (step.kind != StepKind::put) continue;
    EXPECT_EQ(step.destination.rank, 2);
    EXPECT_EQ(merged.sources_of(step).front().rank, 1);
  }
  EXPECT_EQ(merged.sources_of(merged.steps[0].front()).front().rank, 0);
}

TEST(MergeTest, GivesEveryGroupEventsOfItsOwn) {
  const Plan one = message();
  const Plan merged = merged_of({one, one});
  EXPECT_EQ(merged.events, 2 * one.events);
  const auto events_of = [&](std::size_t rank, StepKind kind) {
    std::vector<std::int32_t> found;
    for (const Step& step : merged.steps[rank]) {
      if (step.kind == kind) found.push_back(step.event.id);
    }
    return found;
  };
  // Events 0 … 3 are the entries. Rank 0 waits for the entry of rank 1, and signals event 4.
  EXPECT_EQ(events_of(0, StepKind::wait), std::vector<std::int32_t>{1});
  EXPECT_EQ(events_of(0, StepKind::signal), std::vector<std::int32_t>{4});
  EXPECT_EQ(events_of(1, StepKind::wait), std::vector<std::int32_t>{4});
  EXPECT_EQ(events_of(2, StepKind::wait), std::vector<std::int32_t>{3});
  EXPECT_EQ(events_of(2, StepKind::signal), std::vector<std::int32_t>{5});
  EXPECT_EQ(events_of(3, StepKind::wait), std::vector<std::int32_t>{5});
}

TEST(MergeTest, APlanThatIsUsedAgainHasNoGroups) {
  Plan plan = merged_of({copy_alone(), message()});
  plan.reset(2);
  EXPECT_TRUE(plan.groups.empty());
  EXPECT_EQ(plan.divisors.at(0), 2);
}

}  // namespace
}  // namespace rankcheck::gpu::plan
