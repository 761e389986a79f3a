#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/check/operation.hpp"
#include "harness/search/generator.hpp"

#include "cases/backends/sim.hpp"
#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/draw.hpp"
#include "cases/families/ptycho/inputs.hpp"
#include "cases/ptycho/stage.hpp"
#include "tests/cases/collectives/spoiled.hpp"
#include "tests/harness/sample.hpp"

/// Cases that are drawn for operators: their kinds of inputs, scenes and batches that are larger
/// than what the kernels process at a time, and the power of properties.
namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::Judgement;

harness::Unit unit_of(const std::string& operation, const std::string& algorithm) {
  harness::Unit unit = harness::sample_unit(operation);
  unit.algorithm = algorithm;
  return unit;
}

/// `count` drawn cases of a unit. All of them count as compared.
struct Drawn {
  std::vector<Case> cases;
  std::vector<harness::SiteCell> sites;

  Drawn(const harness::Unit& unit, int count) {
    const SpoiledBackend backend({});
    harness::Generator generator(all_operations(), backend, unit, 1);
    harness::RandomSource words(1);
    for (int i = 0; i < count; ++i) {
      EXPECT_TRUE(generator.next(words.next(), i % 101, cases.emplace_back())) << unit.operation;
      generator.cover(cases.back(), true);
    }
    sites = generator.sites();
  }

  [[nodiscard]] const harness::SiteCell* find(const std::string& name) const {
    const auto found = std::find_if(
        sites.begin(), sites.end(), [&](const auto& each) { return each.site.name == name; });
    return found == sites.end() ? nullptr : &*found;
  }
};

std::int64_t most_positions(const Case& c) {
  return *std::max_element(c.counts.begin(), c.counts.end());
}

TEST(SceneSizeTest, LargeScenesAndSeveralBatchesAreCovered) {
  const Drawn drawn(unit_of("gaussian_gradients", "fused"), 40);
  for (const std::string name :
       {"site/chunked", "site/wide_object", "site/wide_detector", "site/many_positions"}) {
    const harness::SiteCell* const cell = drawn.find(name);
    ASSERT_NE(cell, nullptr) << name;
    EXPECT_GT(cell->covered, 0) << name;
  }
}

TEST(SceneSizeTest, EveryKindOfLargeSceneIsDrawnButFewAre) {
  const Drawn drawn(unit_of("rpie_step", "replicated"), 1000);
  const auto count = [&](auto is) {
    return std::count_if(drawn.cases.begin(), drawn.cases.end(), is);
  };
  const auto wide = count([](const Case& c) { return ptycho(c).scene.cols > large_cols; });
  const auto fine = count([](const Case& c) { return ptycho(c).scene.detector > large_detector; });
  const auto many = count([](const Case& c) { return most_positions(c) > large_positions; });
  EXPECT_GT(wide, 0);
  EXPECT_GT(fine, 0);
  EXPECT_GT(many, 0);
  EXPECT_LT(wide + fine + many, 100);
}

TEST(SceneSizeTest, WholeCallsHaveNoBatches) {
  const Drawn drawn(unit_of("crop", "pixelwise"), 40);
  EXPECT_EQ(drawn.find("site/chunked"), nullptr);
  for (const Case& c : drawn.cases) EXPECT_EQ(c.chunk, 0);
}

std::string gradients(const std::string& algorithm, int chunk) {
  return R"({"operation":"gaussian_gradients","algorithm":")" + algorithm +
         R"(","ranks":2,"counts":[5,1],"rows":4,"cols":5,"window":3,"detector":4,"type":"f64",)"
         R"("data_seed":7,"chunk":)" +
         std::to_string(chunk) + "}";
}

TEST(SceneSizeTest, BatchesOfAnySizeAgreeWithTheReference) {
  for (const std::string algorithm : {"fused", "batched"}) {
    for (const int chunk : {1, 2, 5, 1'000'000'000}) {
      const Judgement judgement = examine(gradients(algorithm, chunk));
      EXPECT_EQ(judgement.verdict, harness::Verdict::passed) << judgement.reason;
    }
  }
}

TEST(SceneSizeTest, AnAlgorithmWithoutBatchesRefusesThem) {
  const SpoiledBackend backend({});
  Case c = harness::case_from_text(gradients("fused", 2));
  EXPECT_EQ(backend.why_refused(c), "");
  c.operation = "illuminate";
  c.algorithm = "pixelwise";
  EXPECT_EQ(backend.why_refused(c), "chunk: the algorithm has no batches");
  c.algorithm.clear();
  EXPECT_EQ(backend.why_refused(c), "");
}

/// Every kind that INPUTS.md defines for an operation is also drawn for it.
TEST(KindsOfInputsTest, AllThatAreDefinedAreDrawn) {
  int with_photons = 0;
  for (const harness::Operation& each : all_operations().operations()) {
    const std::string name(each.contract.name);
    const bool is_operator = spec::family(each.contract) == PtychoCase::family;
    // Only an operation with a reference has this property.
    if (!is_operator || all_operations().find_property(name, "agrees_with_reference") == nullptr)
      continue;
    std::set<harness::InputKind> defined;
    for (std::size_t i = 0; i < harness::input_kind_names.size(); ++i) {
      const auto kind = static_cast<harness::InputKind>(i);
      if (kind != harness::InputKind::given && is_defined(kind, each.contract))
        defined.insert(kind);
    }
    with_photons += defined.contains(harness::InputKind::wide_range) ? 1 : 0;
    std::set<harness::InputKind> drawn;
    for (const Case& c : Drawn(unit_of(name, ""), 60).cases) drawn.insert(c.input);
    EXPECT_EQ(drawn, defined) << name;
  }
  EXPECT_EQ(with_photons, 12);
}

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
  harness::Unit unit = unit_of(GetParam().operation, "replicated");
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
