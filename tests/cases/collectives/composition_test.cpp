#include "cases/collectives/composition.hpp"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cases/collectives/properties.hpp"
#include "cases/families/collectives/case.hpp"
#include "tests/cases/collectives/spoiled.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::InputKind;

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
  SimBackend backend(gpu::implementations());
  harness::Examiner examiner(all_operations(), backend);
  harness::Judgement judgement;
  Case c = whole();
  c.in_place = false;
  c.property = "equals_reduce_then_broadcast";
  std::set<std::vector<std::string>> paths;
  for (c.data_seed = 0; c.data_seed < 60; ++c.data_seed) {
    examiner.examine(c, judgement);
    ASSERT_EQ(judgement.verdict, harness::Verdict::passed) << judgement.reason;
    const std::vector<std::string> path = examiner.observation().path;
    EXPECT_EQ(path.front(), "ring");
    paths.insert(path);
    examiner.examine(c, judgement);
    EXPECT_EQ(examiner.observation().path, path);
  }
  EXPECT_EQ(paths.size(), 12U) << "three ways to reduce, four to broadcast";
}

TEST(CompositionTest, CompositionsNeedOneResult) {
  const spec::Contract& contract = all_operations().find("all_reduce")->contract;
  Case c = whole();
  EXPECT_TRUE(applies_exact(contract, c));
  c.input = InputKind::general;
  EXPECT_FALSE(applies_exact(contract, c));
  adapt_exact(contract, c);
  EXPECT_EQ(c.input, InputKind::exact);
}

TEST(CompositionTest, ReturnsNeedTheInputsAfterwards) {
  const spec::Contract& contract = all_operations().find("all_to_all")->contract;
  Case c = whole();
  EXPECT_FALSE(applies_out_of_place(contract, c));
  adapt_out_of_place(contract, c);
  EXPECT_TRUE(applies_out_of_place(contract, c));
}

class IsLinearTest : public testing::Test {
 protected:
  bool applies(const Case& c) const {
    return law_.applies(all_operations().find("all_reduce")->contract, c);
  }

  harness::Property law_ = is_linear();
  Case c_ = whole();
};

TEST_F(IsLinearTest, HoldsForExactSums) {
  EXPECT_TRUE(applies(c_));
  collective(c_).op = spec::ReduceOp::premul_sum;
  EXPECT_TRUE(applies(c_));
}

TEST_F(IsLinearTest, SaysNothingOfOtherOps) {
  for (const auto op : {spec::ReduceOp::max, spec::ReduceOp::prod, spec::ReduceOp::avg}) {
    collective(c_).op = op;
    EXPECT_FALSE(applies(c_)) << spec::name(op);
  }
}

TEST_F(IsLinearTest, SaysNothingOfOtherInputs) {
  c_.input = InputKind::coded;
  EXPECT_FALSE(applies(c_));
}

/// 64 ranks of bf16: 3 times the smallest limit exceeds 2^8 when the scalar is 2.
TEST_F(IsLinearTest, SaysNothingWhereCombinationsRound) {
  c_.ranks = 64;
  collective(c_).op = spec::ReduceOp::premul_sum;
  EXPECT_FALSE(applies(c_));
}

TEST_F(IsLinearTest, AddsTheInputsOfAnotherSeed) {
  std::vector<Case> stages;
  law_.program(all_operations().find("all_reduce")->contract, c_, stages);
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0], c_);
  EXPECT_EQ(stages[1].scale, 0);
  EXPECT_EQ(stages[2].scale, 2);
  EXPECT_EQ(stages[1].added_seed, 8U);
  EXPECT_EQ(stages[2].added_seed, 8U);
}

}  // namespace
}  // namespace rankcheck::cases
