#include "harness/backend/stages.hpp"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cases/families/collectives/case.hpp"

namespace rankcheck::harness {
namespace {

/// A stage of all_gather in a world of four ranks.
Case stage(std::vector<int> group) {
  Case c;
  c.operation = "all_gather";
  c.ranks = 4;
  c.group = std::move(group);
  return c;
}

TEST(StagesTest, RunAtTheSameTimeIfNoRankIsInTwoOfThem) {
  const std::vector<Case> stages{stage({0, 2}), stage({3}), stage({1}), stage({})};
  EXPECT_EQ(end_of_stages_at_once(stages, 0), 3U);
  EXPECT_EQ(end_of_stages_at_once(stages, 1), 3U);
  EXPECT_EQ(end_of_stages_at_once(stages, 3), 4U);
  EXPECT_TRUE(has_stages_at_once(stages));
}

TEST(StagesTest, RunOneAfterAnotherIfARankIsInBoth) {
  const std::vector<Case> stages{stage({0, 2}), stage({1, 2}), stage({2, 3})};
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(end_of_stages_at_once(stages, k), k + 1);
  EXPECT_FALSE(has_stages_at_once(stages));
}

TEST(StagesTest, RunOneAfterAnotherIfTheirCallsDiffer) {
  using Change = void (*)(Case&);
  EXPECT_TRUE(has_stages_at_once(std::vector{stage({0}), stage({1})}));
  for (const Change change :
       {Change([](Case& c) { c.type = spec::Type::int8; }),
        Change([](Case& c) { c.operation = "broadcast"; }),
        Change([](Case& c) { cases::collective(c).op = spec::ReduceOp::sum; }),
        Change([](Case& c) { c.input = InputKind::previous; })}) {
    Case other = stage({1});
    change(other);
    EXPECT_FALSE(has_stages_at_once(std::vector{stage({0}), other})) << to_text(other);
  }
}

TEST(StagesTest, OverlapUpToTheFirstThatDoesNot) {
  std::vector<Case> stages{stage({0}), stage({0}), stage({0}), stage({0})};
  stages[1].overlaps = stages[3].overlaps = true;
  EXPECT_EQ(end_of_overlap(stages, 0), 1U);
  EXPECT_EQ(end_of_overlap(stages, 1), 3U);
  EXPECT_EQ(end_of_overlap(stages, 3), 4U);
}

TEST(StagesTest, HaveAnOrderForEachRank) {
  using Order = std::vector<std::pair<int, int>>;
  std::vector<Case> stages{stage({0, 1}), stage({1}), stage({1, 2})};
  EXPECT_EQ(program_order(stages), (Order{{1, 2}, {2, 3}}));
  // The second call of rank 1 ends behind the third one.
  stages[1].overlaps = true;
  stages.push_back(stage({1}));
  EXPECT_EQ(program_order(stages), (Order{{1, 2}, {1, 3}, {2, 5}, {3, 5}}));
}

TEST(StagesTest, RunAsOneIfNoneNeedsAnother) {
  std::vector<Case> stages{stage({0}), stage({0})};
  EXPECT_FALSE(runs_as_one(stages));
  stages[1].operation = "broadcast";
  EXPECT_TRUE(runs_as_one(stages));
  stages[1].input = InputKind::previous;
  EXPECT_FALSE(runs_as_one(stages));
  stages[1] = stage({0});
  stages[0].overlaps = true;
  EXPECT_TRUE(runs_as_one(stages));
  stages[1].fault = "lost:0";
  EXPECT_FALSE(runs_as_one(stages));
}

TEST(StagesTest, FindARankInItsGroup) {
  EXPECT_EQ(place_in_group(stage({3, 1}), 1), 1);
  EXPECT_EQ(place_in_group(stage({3, 1}), 0), -1);
  EXPECT_EQ(place_in_group(stage({}), 2), 2);
  EXPECT_EQ(place_in_group(stage({}), 4), -1);
}

}  // namespace
}  // namespace rankcheck::harness
