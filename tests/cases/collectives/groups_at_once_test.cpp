#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "reference/collectives/gather_v/contract.hpp"

#include "harness/backend/stages.hpp"

#include "cases/collectives/properties.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;
using Groups = std::vector<std::vector<int>>;

const spec::Contract contract_of_gather_v = reference::gather_v::contract();

Case call_of(int ranks, std::uint64_t data_seed) {
  Case c;
  c.operation = "gather_v";
  c.ranks = ranks;
  c.data_seed = data_seed;
  for (int r = 0; r < ranks; ++r) c.counts.push_back(10 + r);
  return c;
}

std::vector<Case> stages_of(const Case& c) {
  std::vector<Case> stages;
  groups_at_once().program(contract_of_gather_v, c, stages);
  return stages;
}

Groups groups_of(const Case& c) {
  Groups groups;
  for (const Case& stage : stages_of(c)) groups.push_back(members(stage));
  groups.pop_back();
  return groups;
}

TEST(GroupsAtOnceTest, DividesTheWorldIntoRunsOrIntoEverySthRank) {
  EXPECT_EQ(groups_of(call_of(5, 3)), (Groups{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(groups_of(call_of(5, 1)), (Groups{{0, 2, 4}, {1, 3}}));
}

TEST(GroupsAtOnceTest, NobodyIsLateInAGroupWithoutTheLateRank) {
  Case c = call_of(5, 3);
  c.late = 1;
  std::vector<int> late;
  for (const Case& stage : stages_of(c)) late.push_back(stage.late);
  EXPECT_EQ(late, (std::vector{1, 1, -1, 1}));
}

/// All ways to divide the world have at least two groups, and each rank is in one group.
TEST(GroupsAtOnceTest, EveryRankIsInOneGroupAndTheWorldCallsLast) {
  std::set<Groups> seen;
  for (int ranks = 2; ranks <= 6; ++ranks) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const std::vector<Case> stages = stages_of(call_of(ranks, seed));
      EXPECT_GE(stages.size(), 3U);
      EXPECT_EQ(harness::end_of_stages_at_once(stages, 0), stages.size() - 1);
      EXPECT_EQ(members(stages.back()), members(call_of(ranks, seed)));
      std::vector<int> all;
      for (const std::vector<int>& group : groups_of(call_of(ranks, seed))) {
        all.insert(all.end(), group.begin(), group.end());
      }
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all, members(call_of(ranks, seed)));
      if (ranks == 6) seen.insert(groups_of(call_of(ranks, seed)));
    }
  }
  EXPECT_GT(seen.size(), 20U);
}

TEST(GroupsAtOnceTest, EveryGroupKeepsItsCountsAndARoot) {
  Case c = call_of(5, 1);
  collective(c).root = 3;
  const std::vector<Case> stages = stages_of(c);
  EXPECT_EQ(stages[0].counts, (std::vector<std::int64_t>{10, 12, 14}));
  EXPECT_EQ(stages[1].counts, (std::vector<std::int64_t>{11, 13}));
  EXPECT_EQ(collective(stages[1]).root, 1);
  EXPECT_NE(stages[2].data_seed, c.data_seed);
}

TEST(GroupsAtOnceTest, LeavesOutRanksThatAreNoMembers) {
  Case c = call_of(3, 1);
  c.ranks = 9;
  c.group = {7, 2, 4};
  const harness::Property property = groups_at_once();
  EXPECT_FALSE(property.applies(contract_of_gather_v, c));
  property.adapt(contract_of_gather_v, c);
  EXPECT_EQ(c.ranks, 3);
  EXPECT_EQ(c.group, (std::vector<int>{2, 0, 1}));
  EXPECT_TRUE(property.applies(contract_of_gather_v, c));
}

TEST(GroupsAtOnceTest, SaysNothingOfALoneRank) {
  EXPECT_FALSE(groups_at_once().applies(contract_of_gather_v, call_of(1, 1)));
}

}  // namespace
}  // namespace rankcheck::cases
