#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"

#include "harness/backend/stages.hpp"
#include "harness/properties/nearly_equal.hpp"
#include "harness/properties/same_bits.hpp"

#include "cases/collectives/composition.hpp"
#include "cases/collectives/exact_inputs.hpp"
#include "cases/collectives/properties.hpp"
#include "cases/families/collectives/case.hpp"
#include "tests/cases/collectives/spoiled.hpp"

/// Tests where properties apply and which runs they request.
/// tests/cases/collectives/properties_test.cpp tests their judgement on real results.
namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::InputKind;
using harness::is_deterministic;
using harness::nearly_equal_count;
using harness::Property;
using harness::ranks_agree_bitwise;

using spec::ReduceOp;
using spec::Type;

Case sum(InputKind input = InputKind::exact) {
  Case c;
  c.operation = "all_reduce";
  c.ranks = 3;
  c.count = 5;
  collective(c).op = ReduceOp::sum;
  c.input = input;
  return c;
}

Case move() {
  Case c = sum(InputKind::general);
  c.operation = "all_gather";
  collective(c).op = ReduceOp::none;
  return c;
}

std::vector<Case> program(const Property& property, const spec::Contract& contract, const Case& c) {
  std::vector<Case> stages;
  property.program(contract, c, stages);
  return stages;
}

const spec::Contract& all_reduce = reference::contract_named("all_reduce");
const spec::Contract& all_gather = reference::contract_named("all_gather");

TEST(ExactInputsTest, MovesAndIntegersHaveOneResultAndSumsThatRoundHaveSeveral) {
  EXPECT_TRUE(has_one_result(move()));
  Case c = sum(InputKind::general);
  EXPECT_FALSE(has_one_result(c));
  c.type = Type::int32;
  EXPECT_TRUE(has_one_result(c));
  // The maximum of several NaNs may have the payload of any of them.
  c = sum(InputKind::special);
  collective(c).op = ReduceOp::max;
  EXPECT_FALSE(has_one_result(c));
  c.type = Type::int32;
  EXPECT_TRUE(has_one_result(c));
}

TEST(ExactInputsTest, OnlySuchCasesAreChanged) {
  Case c = sum(InputKind::general);
  use_exact_inputs(c);
  EXPECT_EQ(c.input, InputKind::exact);
  c = move();
  use_exact_inputs(c);
  EXPECT_EQ(c.input, InputKind::general);
}

TEST(NearlyEqualTest, SizesDifferByOneAtMostAndAddUp) {
  for (std::int64_t count = 0; count < 20; ++count) {
    for (std::size_t parts = 1; parts < 7; ++parts) {
      std::int64_t total = 0;
      for (std::size_t i = 0; i < parts; ++i) {
        const std::int64_t size = nearly_equal_count(count, parts, i);
        ASSERT_LE(nearly_equal_count(count, parts, 0) - size, 1);
        ASSERT_GE(size, nearly_equal_count(count, parts, parts - 1));
        total += size;
      }
      ASSERT_EQ(total, count);
    }
  }
}

TEST(InPlaceTest, SpeaksOfCallsInPlaceAlone) {
  const Property property = in_place_equals_out_of_place();
  Case c = sum(InputKind::general);
  EXPECT_FALSE(property.applies(all_reduce, c));
  property.adapt(all_reduce, c);
  EXPECT_TRUE(property.applies(all_reduce, c));
}

TEST(InPlaceTest, RunsBothWays) {
  Case c = sum();
  c.in_place = true;
  const auto stages = program(in_place_equals_out_of_place(), all_reduce, c);
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_FALSE(stages[0].in_place);
  EXPECT_EQ(stages[1], c);
}

TEST(IsDeterministicTest, RunsTwice) {
  EXPECT_EQ(program(is_deterministic(), all_reduce, sum()), (std::vector<Case>{sum(), sum()}));
}

TEST(KeepsGroupsApartTest, MovesToTheNextRanksAndStaysAscending) {
  const std::vector<std::pair<std::vector<int>, std::vector<int>>> pairs{{{1, 2}, {0, 2}},
                                                                         {{2, 0}, {0, 1}},
                                                                         {{0, 1, 2}, {1, 2}},
                                                                         {{}, {1, 2, 0}},
                                                                         {{2, 0, 1}, {0, 1, 2}}};
  for (const auto& [group, next] : pairs) {
    Case c = sum();
    c.ranks = 3;
    c.group = group;
    const auto stages = program(keeps_groups_apart(), all_reduce, c);
    ASSERT_EQ(stages.size(), 3U);
    EXPECT_EQ(stages[0].group, group);
    EXPECT_EQ(stages[1].group, next);
    EXPECT_EQ(stages[2].group, group);
  }
}

TEST(KeepsGroupsApartTest, NobodyIsLateInAGroupWithoutTheLateRank) {
  Case c = sum();
  c.ranks = 3;
  c.group = {0, 1, 2};
  for (const auto& [late, next] : {std::pair(1, 1), std::pair(2, -1)}) {
    c.late = late;
    const auto stages = program(keeps_groups_apart(), all_reduce, c);
    ASSERT_EQ(group_size(stages[1]), 2);
    EXPECT_EQ(stages[1].late, next);
    EXPECT_EQ(stages[2].late, late);
  }
}

/// Cases that name no group keep the stages that they always had. Drawn ones may get a list.
TEST(KeepsGroupsApartTest, SomeDrawnCasesListAllRanks) {
  for (const int seed : {1, 2}) {
    Case c = sum();
    c.ranks = 3;
    c.data_seed = static_cast<std::uint64_t>(seed);
    keeps_groups_apart().adapt(all_reduce, c);
    EXPECT_EQ(c.group, seed == 1 ? (std::vector{0, 1, 2}) : std::vector<int>());
    c.group = {2, 1, 0};
    keeps_groups_apart().adapt(all_reduce, c);
    EXPECT_EQ(c.group, (std::vector{2, 1, 0}));
  }
}

TEST(KeepsGroupsApartTest, TheWorldWithoutRank0KeepsItsCounts) {
  Case c = sum();
  c.operation = "all_gather_v";
  collective(c).op = spec::ReduceOp::none;
  c.ranks = 3;
  c.count = 0;
  c.counts = {1, 2, 3};
  c.group = {0, 1, 2};
  const auto stages = program(keeps_groups_apart(), reference::contract_named("all_gather_v"), c);
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[1].counts, (std::vector<std::int64_t>{2, 3}));
}

TEST(KeepsGroupsApartTest, TheWorldChangesItsOrderIfOnlyRank0HasRows) {
  Case c = sum();
  c.operation = "reduce_axis";
  c.ranks = 2;
  c.count = 0;
  c.counts = {1, 0};
  c.group = {0, 1};
  const auto stages = program(keeps_groups_apart(), reference::contract_named("reduce_axis"), c);
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[1].group, (std::vector{1, 0}));
}

TEST(RankPermutationTest, RunsTheMembersInTheDrawnOrder) {
  Case c = sum();
  c.ranks = 9;
  c.group = {5, 0, 8, 2};
  const auto stages = program(rank_permutation(), all_reduce, c);
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[0], c);
  const std::vector<int> order = drawn_order(c);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(stages[1].group[i], c.group[spec::to_size(order[i])]);
  }
  Case other = stages[1];
  other.group = c.group;
  EXPECT_EQ(other, c);
}

/// Every order except the given one is drawn, and each is a permutation.
TEST(RankPermutationTest, DrawsEveryOtherOrder) {
  for (const auto& [ranks, orders] : {std::pair(2, 1U), std::pair(3, 5U), std::pair(4, 23U)}) {
    std::set<std::vector<int>> seen;
    Case c = sum();
    c.ranks = ranks;
    for (c.data_seed = 0; c.data_seed < 600; ++c.data_seed) seen.insert(drawn_order(c));
    EXPECT_EQ(seen.size(), orders);
    for (std::vector<int> order : seen) {
      EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
      std::sort(order.begin(), order.end());
      EXPECT_EQ(order.back(), ranks - 1);
      EXPECT_EQ(std::adjacent_find(order.begin(), order.end()), order.end());
    }
  }
}

TEST(AppliesTest, HoldsWhereAPropertyHasSomethingToSay) {
  EXPECT_TRUE(rank_permutation().applies(all_reduce, sum()));
  EXPECT_FALSE(rank_permutation().applies(all_reduce, sum(InputKind::general)));
  EXPECT_TRUE(rank_permutation().applies(all_gather, move()));
  EXPECT_FALSE(rank_permutation().applies(reference::contract_named("all_gather_v"), move()));
  EXPECT_FALSE(rank_permutation().applies(reference::contract_named("broadcast"), move()));
  EXPECT_TRUE(ranks_agree_bitwise().applies(all_gather, move()));
  EXPECT_FALSE(ranks_agree_bitwise().applies(reference::contract_named("scatter"), move()));
  Case alone = move();
  alone.group = {1};
  EXPECT_FALSE(ranks_agree_bitwise().applies(all_gather, alone));
  EXPECT_TRUE(separates_ranks().applies(reference::contract_named("barrier"), move()));
  EXPECT_FALSE(separates_ranks().applies(all_gather, move()));
  // Sums that round may be split into other sums.
  EXPECT_FALSE(splits().applies(all_reduce, sum(InputKind::general)));
  EXPECT_TRUE(splits().applies(all_reduce, sum()));
}

TEST(SeparatesRanksTest, CallsThreeTimes) {
  EXPECT_EQ(program(separates_ranks(), reference::contract_named("barrier"), move()).size(), 3U);
}

TEST(SplitsTest, PartsAddUpAndNumberOn) {
  const auto stages = program(splits(), all_gather, move());
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[1].count, 3);
  EXPECT_EQ(stages[2].count, 2);
  EXPECT_EQ(collective(stages[1]).first_index, 0);
  EXPECT_EQ(collective(stages[2]).first_index, 3);
  for (const Case& stage : stages) EXPECT_EQ(collective(stage).index_stride, 5);
}

/// Every block is cut at the same index, so that each part has the inputs of the whole.
TEST(SplitsTest, UnevenBlocksAreCutAtTheSameIndex) {
  Case c = move();
  c.count = 0;
  c.counts = {4, 0, 1};
  const auto stages = program(splits(), reference::contract_named("all_gather_v"), c);
  EXPECT_EQ(stages[1].counts, (std::vector<std::int64_t>{2, 0, 1}));
  EXPECT_EQ(stages[2].counts, (std::vector<std::int64_t>{2, 0, 0}));
  EXPECT_EQ(collective(stages[2]).first_index, 2);
}

using Groups = std::vector<std::vector<int>>;

const spec::Contract& gather_v = reference::contract_named("gather_v");

Case call_of(int ranks, std::uint64_t data_seed) {
  Case c;
  c.operation = "gather_v";
  c.ranks = ranks;
  c.data_seed = data_seed;
  for (int r = 0; r < ranks; ++r) c.counts.push_back(10 + r);
  return c;
}

std::vector<Case> stages_of(const Case& c) {
  return program(groups_at_once(), gather_v, c);
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
  EXPECT_FALSE(property.applies(gather_v, c));
  property.adapt(gather_v, c);
  EXPECT_EQ(c.ranks, 3);
  EXPECT_EQ(c.group, (std::vector<int>{2, 0, 1}));
  EXPECT_TRUE(property.applies(gather_v, c));
}

TEST(GroupsAtOnceTest, SaysNothingOfALoneRank) {
  EXPECT_FALSE(groups_at_once().applies(gather_v, call_of(1, 1)));
}

Case whole() {
  return harness::case_from_text(
      R"({"operation":"all_reduce","algorithm":"ring","ranks":3,"count":4,"type":"bf16","op":"sum",
          "in_place":true,"input":"exact","data_seed":7,"schedule":"random:3"})");
}

TEST(CompositionTest, StagesKeepTheCallButNotTheAlgorithm) {
  Case expected = whole();
  expected.operation = "reduce";
  expected.algorithm = "";
  expected.in_place = false;
  EXPECT_EQ(stage_of(whole(), "reduce"), expected);
}

TEST(CompositionTest, NextStagesTakeWhatIsLeft) {
  Case expected = stage_of(whole(), "broadcast");
  expected.input = InputKind::previous;
  EXPECT_EQ(next_stage_of(whole(), "broadcast"), expected);
}

/// Stages of other operations get every algorithm in turn. Each replay chooses the same algorithms.
TEST(CompositionTest, OpenStagesDrawTheirAlgorithms) {
  SpoiledBackend backend({});
  harness::Examiner examiner(all_operations(), backend);
  harness::Judgement judgement;
  Case c = whole();
  c.in_place = false;
  c.property = "equals_reduce_then_broadcast";
  std::set<std::vector<std::string>> paths;
  for (c.data_seed = 0; c.data_seed < 200; ++c.data_seed) {
    examiner.examine(c, judgement);
    ASSERT_EQ(judgement.verdict, harness::Verdict::passed) << judgement.reason;
    const std::vector<std::string> path = examiner.observation().path;
    EXPECT_EQ(path.front(), "ring");
    paths.insert(path);
    examiner.examine(c, judgement);
    EXPECT_EQ(examiner.observation().path, path);
  }
  const auto ways_to = [](std::string_view operation) {
    const auto& all = gpu::implementations();
    return spec::to_size(std::count_if(
        all.begin(), all.end(), [&](const auto& each) { return each.operation == operation; }));
  };
  EXPECT_EQ(paths.size(), ways_to("reduce") * ways_to("broadcast"));
}

TEST(CompositionTest, CompositionsNeedOneResult) {
  Case c = whole();
  EXPECT_TRUE(applies_exact(all_reduce, c));
  c.input = InputKind::general;
  EXPECT_FALSE(applies_exact(all_reduce, c));
  adapt_exact(all_reduce, c);
  EXPECT_EQ(c.input, InputKind::exact);
}

TEST(CompositionTest, ReturnsNeedTheInputsAfterwards) {
  const spec::Contract& contract = all_operations().find("all_to_all")->contract;
  Case c = whole();
  EXPECT_FALSE(applies_out_of_place(contract, c));
  adapt_out_of_place(contract, c);
  EXPECT_TRUE(applies_out_of_place(contract, c));
}

TEST(IsLinearTest, HoldsForExactSumsAlone) {
  const auto applies = [](ReduceOp op, InputKind input = InputKind::exact, int ranks = 3) {
    Case c = whole();
    collective(c).op = op;
    c.input = input;
    c.ranks = ranks;
    return is_linear().applies(all_reduce, c);
  };
  EXPECT_TRUE(applies(ReduceOp::sum));
  EXPECT_TRUE(applies(ReduceOp::premul_sum));
  for (const ReduceOp op : {ReduceOp::max, ReduceOp::prod, ReduceOp::avg}) {
    EXPECT_FALSE(applies(op)) << spec::name(op);
  }
  EXPECT_FALSE(applies(ReduceOp::sum, InputKind::coded));
  // 64 ranks of bf16: 3 times the smallest limit exceeds 2^8 when the scalar is 2.
  EXPECT_FALSE(applies(ReduceOp::premul_sum, InputKind::exact, 64));
}

TEST(IsLinearTest, AddsTheInputsOfAnotherSeed) {
  const auto stages = program(is_linear(), all_reduce, whole());
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0], whole());
  EXPECT_EQ(stages[1].scale, 0);
  EXPECT_EQ(stages[2].scale, 2);
  EXPECT_EQ(stages[1].added_seed, 8U);
  EXPECT_EQ(stages[2].added_seed, 8U);
}

}  // namespace
}  // namespace rankcheck::cases
