#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/properties/is_deterministic.hpp"
#include "harness/properties/nearly_equal.hpp"
#include "harness/properties/ranks_agree_bitwise.hpp"

#include "cases/collectives/exact_inputs.hpp"
#include "cases/collectives/properties.hpp"
#include "cases/families/collectives/case.hpp"

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

TEST(ExactInputsTest, MovesAndIntegersHaveOneResult) {
  EXPECT_TRUE(has_one_result(move()));
  Case c = sum(InputKind::general);
  c.type = Type::int32;
  EXPECT_TRUE(has_one_result(c));
}

TEST(ExactInputsTest, SumsThatRoundHaveSeveral) {
  EXPECT_FALSE(has_one_result(sum(InputKind::general)));
}

/// The maximum of several NaNs may have the payload of any of them.
TEST(ExactInputsTest, ExtremesOfNansHaveSeveral) {
  Case c = sum(InputKind::special);
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

TEST(RankPermutationTest, SpeaksOfGathersAndReductionsAlone) {
  const Property property = rank_permutation();
  EXPECT_TRUE(property.applies(all_reduce, sum()));
  EXPECT_FALSE(property.applies(all_reduce, sum(InputKind::general)));
  EXPECT_TRUE(property.applies(all_gather, move()));
  EXPECT_FALSE(property.applies(reference::contract_named("all_gather_v"), move()));
  EXPECT_FALSE(property.applies(reference::contract_named("broadcast"), move()));
}

TEST(RanksAgreeTest, SpeaksWhereTheContractDoesAndRanksAreSeveral) {
  const Property property = ranks_agree_bitwise();
  EXPECT_TRUE(property.applies(all_gather, move()));
  EXPECT_FALSE(property.applies(reference::contract_named("scatter"), move()));
  Case alone = move();
  alone.group = {1};
  EXPECT_FALSE(property.applies(all_gather, alone));
}

TEST(SeparatesRanksTest, SpeaksOfBarriersAlone) {
  EXPECT_TRUE(separates_ranks().applies(reference::contract_named("barrier"), move()));
  EXPECT_FALSE(separates_ranks().applies(all_gather, move()));
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

TEST(SplitsTest, SaysNothingOfSumsThatRound) {
  EXPECT_FALSE(splits().applies(all_reduce, sum(InputKind::general)));
  EXPECT_TRUE(splits().applies(all_reduce, sum()));
}

}  // namespace
}  // namespace rankcheck::cases
