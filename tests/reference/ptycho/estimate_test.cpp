#include "reference/ptycho/estimate.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

/// Bounds on errors, with numbers that a reader can follow.
namespace rankcheck::reference {
namespace {

constexpr double unit = 0x1p-24;

/// `expected` leaves out terms of second order in the unit roundoff.
void expect_error(const Estimate& estimate, double expected) {
  EXPECT_GE(estimate.error, expected);
  EXPECT_LE(estimate.error, expected * (1 + 64 * unit));
}

TEST(EstimateTest, ASumOfThreeIsRoundedTwice) {
  Sum sum;
  for (const double term : {1.0, 2.0, -3.0}) sum.add({.value = term});
  const Estimate estimate = sum.estimate(unit);
  EXPECT_EQ(estimate.value, 0.0);
  expect_error(estimate, 2 * unit * (1 + 2 + 3));
}

TEST(EstimateTest, ASumKeepsTheErrorsAndTheRoundingsOfItsTerms) {
  Sum sum;
  sum.add({.value = 4, .error = 0.5}, 2, 1);
  sum.add({.value = 1}, 3);
  const Estimate estimate = sum.estimate(unit);
  EXPECT_EQ(estimate.value, 11.0);
  // Each product is rounded once, and the sum once.
  expect_error(estimate, 2 * 0.5 + 2 * unit * (2 * 4.5 + 3 * 1));
}

TEST(EstimateTest, ASumOfOneTermOrNoneIsExact) {
  Sum sum;
  EXPECT_EQ(sum.estimate(unit).error, 0);
  sum.add({.value = 5});
  EXPECT_EQ(sum.estimate(unit).error, 0);
}

TEST(EstimateTest, TwoNumbersAreAddedWithOneRounding) {
  expect_error(sum({.value = 1}, {.value = 2}, unit), 3 * unit);
  expect_error(difference({.value = 1, .error = 0.25}, {.value = 2, .error = 0.5}, unit),
               0.75 + 1.75 * unit);
}

TEST(EstimateTest, AProductHasTheErrorsOfBothFactors) {
  expect_error(product({.value = 3}, {.value = -2}, unit), 2.24 * unit * 6);
  expect_error(product({.value = 3, .error = 0.5}, {.value = 2, .error = 0.25}, unit),
               0.5 * 2 + 3.5 * 0.25 + 2.24 * unit * 3.5 * 2.25);
}

TEST(EstimateTest, AQuotientIsBoundedWhereTheDivisorCannotBeZero) {
  expect_error(quotient({.value = 6}, {.value = 2}, unit), 3 * unit * 3);
  expect_error(quotient({.value = 6, .error = 0.5}, {.value = 2, .error = 1}, unit),
               (0.5 + 3 * 1) / (2 - 1) + 3 * unit * (3 + 3.5));
  EXPECT_EQ(quotient({.value = 6}, {.value = 1, .error = 1}, unit).error,
            std::numeric_limits<double>::infinity());
}

TEST(EstimateTest, AnInnerProductConjugatesItsSecondFactor) {
  const BoundedArray a{.values = {{0, 1}, {2, 0}}, .errors = {0, 0}};
  const BoundedArray b{.values = {{0, 1}, {3, 0}}, .errors = {0, 0}};
  const Estimate estimate = inner_product(a, b, unit);
  EXPECT_EQ(estimate.value, 7.0);
  expect_error(estimate, (2.24 + 1) * unit * 7);
}

TEST(EstimateTest, TheLargestValueAndTheLargestErrorMayBeOfDifferentPlaces) {
  const Estimate estimate = largest({.values = {1, 4, 2}, .errors = {0.5, 0.25, 0.125}});
  EXPECT_EQ(estimate.value, 4.0);
  EXPECT_EQ(estimate.error, 0.5);
}

TEST(EstimateTest, AStepOfLengthZeroChangesNothing) {
  const BoundedArray before{.values = {1, 2}, .errors = {0, 0.5}};
  const BoundedArray direction{.values = {8, 8}, .errors = {0, 0}};
  const BoundedArray same = moved(before, {}, direction, unit);
  EXPECT_EQ(same.values, before.values);
  EXPECT_EQ(same.errors, before.errors);
  const BoundedArray after = moved(before, {.value = 2}, direction, unit);
  EXPECT_EQ(after.values[0], 17.0);
  expect_error(at(after, 0), (2.24 * 16 + 17) * unit);
}

TEST(EstimateTest, ATransformSpreadsTheErrorsOfAFrameOverAllItsPixels) {
  std::vector<std::complex<double>> values{2, 0, 0, 0};
  std::vector<double> errors{0.5, 0, 0, 0.25};
  double length = length_of(errors);
  EXPECT_DOUBLE_EQ(length, std::sqrt(0.3125));
  transform(Direction::forward, 2, unit, values, errors, length);
  EXPECT_EQ(values[3], 1.0);
  const double own = growth(transform_roundings(2), unit) * std::hypot(2.5, 0.25);
  for (const double error : errors) EXPECT_DOUBLE_EQ(error, 0.75 / 2 + own);
  EXPECT_DOUBLE_EQ(length, std::sqrt(0.3125) + std::sqrt(2) * own);
}

TEST(EstimateTest, ATransformLeavesNoPixelFurtherOffThanTheWholeFrameWas) {
  std::vector<std::complex<double>> values(4, 0);
  std::vector<double> errors(4, 1);
  // A tighter length of the error vector is known than the pixels' own errors give.
  double length = 0.5;
  transform(Direction::inverse, 2, unit, values, errors, length);
  for (const double error : errors) EXPECT_NEAR(error, 0.5, 4 * 16 * unit);
}

}  // namespace
}  // namespace rankcheck::reference
