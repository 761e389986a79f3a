#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/check/operation.hpp"
#include "harness/search/generator.hpp"

#include "cases/backends/sim.hpp"
#include "cases/families/ptycho/case.hpp"
#include "cases/ptycho/stage.hpp"
#include "tests/cases/collectives/spoiled.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::Judgement;

/// A step and one of its properties.
struct Checked {
  std::string operation;
  std::string property;
};

std::vector<Checked> properties_of_steps() {
  std::vector<Checked> all;
  for (const harness::Operation& operation : all_operations().operations()) {
    if (!operation.contract.name.ends_with("_step")) continue;
    for (const harness::Property& property : operation.properties) {
      all.push_back({std::string(operation.contract.name), std::string(property.name)});
    }
  }
  return all;
}

class StepPowerTest : public testing::TestWithParam<Checked> {};

TEST_P(StepPowerTest, NineOfTenCasesInSinglePrecisionSeeNineOfTenElements) {
  harness::Unit unit;
  unit.operation = GetParam().operation;
  unit.algorithm = "replicated";
  unit.backend = "sim";
  unit.property = GetParam().property;
  unit.types = {spec::Type::f32};
  const auto backend = open_sim({});
  harness::Generator generator(all_operations(), *backend, unit, 1);
  harness::Examiner examiner(all_operations(), *backend);
  harness::RandomSource words(1);
  constexpr int cases = 40;
  int strong = 0;
  for (int k = 0; k < cases; ++k) {
    Case c;
    ASSERT_TRUE(generator.next(words.next(), k, c));
    Judgement judgement;
    examiner.examine(c, judgement);
    EXPECT_NE(judgement.verdict, harness::Verdict::falsified) << to_text(c);
    const harness::Power& power = judgement.power;
    if (10 * power.useful >= 9 * power.elements) ++strong;
    generator.cover(c, true);
  }
  EXPECT_GE(10 * strong, 9 * cases);
}

INSTANTIATE_TEST_SUITE_P(Steps,
                         StepPowerTest,
                         testing::ValuesIn(properties_of_steps()),
                         [](const auto& test) {
                           return test.param.operation + "_" + test.param.property;
                         });

TEST(StepPowerTest, WhatIsExpectedOfAStepAndItsBoundsAreFinite) {
  // Bounds that multiplied from part to part were useless for this probe.
  const Case c = harness::case_from_text(
      R"({"operation":"conjugate_gradient_step","ranks":5,"counts":[1,1,5,1,4],"type":"f32",)"
      R"("data_seed":316751,"rows":12,"cols":19,"window":8,"detector":8,"modes":1,)"
      R"("scan":"whole"})");
  const auto backend = open_sim({});
  harness::Examiner examiner(all_operations(), *backend);
  Judgement judgement;
  examiner.examine(c, judgement);
  EXPECT_EQ(judgement.verdict, harness::Verdict::passed) << judgement.reason;
  EXPECT_EQ(judgement.power.useful, judgement.power.elements);
  const harness::Evidence evidence{
      all_operations(), backend->traits(), examiner.stages(), examiner.observation()};
  const OperatorStage stage = read_stage(evidence, 0, reference::Follow::results);
  for (const spec::Array array : ptycho(stage.contract).outputs) {
    const reference::BoundedArray& expected = stage.expected[array];
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      ASSERT_TRUE(std::isfinite(std::abs(expected.values[i]))) << spec::name(array);
      ASSERT_TRUE(std::isfinite(expected.errors[i])) << spec::name(array);
    }
  }
}

}  // namespace
}  // namespace rankcheck::cases
