#include "harness/case/verdict.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace rankcheck::harness {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(PowerMeterTest, BoundsAreUsefulUnderATenthOfTheLargestMagnitude) {
  PowerMeter meter;
  meter.add(5, 0.99);
  meter.add(10, 1);
  meter.add(0, 0.5);
  EXPECT_EQ(meter.power(), (Power{.elements = 3, .useful = 2, .smallest_change = 0.05}));
}

TEST(PowerMeterTest, ABoundThatSaysNothingIsNotUseful) {
  PowerMeter meter;
  meter.add(1, std::numeric_limits<double>::quiet_NaN());
  meter.add(1, infinity);
  EXPECT_EQ(meter.power(), (Power{.elements = 2, .useful = 0, .smallest_change = infinity}));
}

TEST(PowerMeterTest, InfinitiesSetNoScale) {
  PowerMeter meter;
  meter.add(infinity, 0);
  meter.add(1, 1);
  EXPECT_EQ(meter.power(), (Power{.elements = 2, .useful = 1, .smallest_change = 0}));
}

TEST(PowerMeterTest, ZerosWithoutABoundAreUseful) {
  PowerMeter meter;
  meter.add(0, 0);
  EXPECT_EQ(meter.power(), (Power{.elements = 1, .useful = 1, .smallest_change = 0}));
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
