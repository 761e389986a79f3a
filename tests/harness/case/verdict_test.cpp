#include "harness/case/verdict.hpp"

#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace rankcheck::harness {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(PowerMeterTest, BoundsAreUsefulUnderATenthOfTheLargestMagnitude) {
  struct Row {
    const char* what;
    /// Magnitudes and their bounds.
    std::vector<std::pair<double, double>> elements;
    Power power;
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Row> rows{
      {"the largest decides", {{5, 0.99}, {10, 1}, {0, 0.5}}, {3, 2, 0.05}},
      {"a bound that says nothing is not useful", {{1, nan}, {1, infinity}}, {2, 0, infinity}},
      {"infinities set no scale", {{infinity, 0}, {1, 1}}, {2, 1, 0}},
      {"zeros without a bound are useful", {{0, 0}}, {1, 1, 0}},
  };
  for (const auto& [what, elements, power] : rows) {
    PowerMeter meter;
    for (const auto& [magnitude, bound] : elements) meter.add(magnitude, bound);
    EXPECT_EQ(meter.power(), power) << what;
  }
}

TEST(PowerMeterTest, NothingExpectedNeedsAScale) {
  PowerMeter meter;
  meter.add(1e-9, 1e-7);
  EXPECT_EQ(meter.power().useful, 0);
  meter.raise(1);
  EXPECT_EQ(meter.power().useful, 1);
}

TEST(PowerMeterTest, ExactElementsAreUseful) {
  PowerMeter meter;
  meter.add_exact(7);
  EXPECT_EQ(meter.power(), (Power{.elements = 7, .useful = 7, .smallest_change = 0}));
}

TEST(PowerMeterTest, NoElementsHaveNoPowerToLack) {
  EXPECT_EQ(PowerMeter().power(), Power{});
  Judgement judgement;
  judgement.see(PowerMeter(), "nothing");
  EXPECT_EQ(judgement.blind_output, "");
}

TEST(JudgementTest, KeepsTheFirstOutputWithoutAUsefulBoundAndTheWorstChange) {
  Judgement judgement;
  judgement.see(1, 0.01, "seen");
  judgement.see(1, 0.5, "blind");
  judgement.see(1, 0.7, "blind as well");
  EXPECT_EQ(judgement.blind_output, "blind");
  EXPECT_EQ(judgement.power, (Power{.elements = 3, .useful = 1, .smallest_change = 0.7}));
}

}  // namespace
}  // namespace rankcheck::harness
