#include <cmath>
#include <complex>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

/// Steps along conjugate gradients, with amplitudes and with counts.
namespace rankcheck::reference {
namespace {

/// The waves are 4 and the measured amplitude is 1, so the object's gradient is 6.
OperatorArrays waves_of_4(double old_direction = 0, double old_gradient = 0) {
  OperatorArrays in = lit_pixel(2, {2}, 1);
  in.make(Array::object_direction).values[0] = old_direction;
  in.make(Array::object_gradient).values[0] = old_gradient;
  in.make(Array::probe_direction);
  in.make(Array::probe_gradient);
  return in;
}

OperatorArrays stepped(const OperatorArrays& in) {
  return outputs_of(conjugate_gradient_step::reference, in);
}

TEST(ConjugateGradientStepTest, ObjectGoesFirstAndTheProbeFromThere) {
  // The object goes from 2 to -1, because -4 would give waves of -8. Then the probe goes from 2 to
  // 1.
  const OperatorArrays out = stepped(waves_of_4());
  expect_values(out, {{Array::cost, {9}}, {Array::object, {-1, 7}}, {Array::probe, {1}}});
  expect_values(out, {{Array::step_lengths, {0.5, 1}}, {Array::object_gradient, {6, 0}}});
  expect_values(out, {{Array::object_direction, {-6, 0}}, {Array::probe_gradient, {1}}});
  EXPECT_EQ(out[Array::probe_direction].values, Values{-1});
}

TEST(ConjugateGradientStepTest, TheOldDirectionJoinsAsDaiAndYuanSay) {
  // -6 + (36 / (-1 (6 - 10))) (-1) = -15. A quarter of this step lowers the cost.
  const OperatorArrays out = stepped(waves_of_4(-1, 10));
  EXPECT_EQ(out[Array::object_direction].values[0], -15.0);
  EXPECT_EQ(out[Array::step_lengths].values[0], 0.25);
  EXPECT_EQ(out[Array::object].values[0], -1.75);
}

TEST(ConjugateGradientStepTest, ACurvatureThatIsNotPositiveRestarts) {
  EXPECT_EQ(stepped(waves_of_4(-1, 2))[Array::object_direction].values[0], -6.0);
}

TEST(ConjugateGradientStepTest, ADirectionThatAscendsRestarts) {
  // -6 + (36 / (1 (6 - 4))) 1 = 12.
  EXPECT_EQ(stepped(waves_of_4(1, 4))[Array::object_direction].values[0], -6.0);
}

TEST(ConjugateGradientStepTest, ACurvatureNearZeroSaysNothing) {
  const OperatorArrays out = stepped(waves_of_4(1, std::nextafter(6, 0)));
  EXPECT_FALSE(out[Array::object_direction].errors[0] < 1e9);
  EXPECT_FALSE(out[Array::probe].errors[0] < 1e9);
}

TEST(ConjugateGradientStepTest, WhatIsDecidedHasSmallBounds) {
  const OperatorArrays out = stepped(waves_of_4(-1, 10));
  EXPECT_LT(out[Array::object].errors[0], 1e-4);
  EXPECT_EQ(out[Array::step_lengths].errors[0], 0);
}

TEST(ConjugateGradientStepTest, ATiedLengthBoundsAllThatMayBeTaken) {
  // Length 1 takes the object from 2 to -2 and the waves from 4 to -4. The measured amplitude is 2,
  // so the cost stays the same.
  OperatorArrays in = waves_of_4();
  in[Array::frames].values[0] = 4;
  const OperatorArrays out = stepped(in);
  // Length 1/2 leads to no waves, which costs the same again. Length 1/4 is better.
  EXPECT_EQ(out[Array::step_lengths].values[0], 0.625);
  EXPECT_EQ(out[Array::step_lengths].errors[0], 0.375);
  EXPECT_EQ(out[Array::object].values[0], -0.5);
  EXPECT_GE(out[Array::object].errors[0], 1.5);
  EXPECT_LT(out[Array::object].errors[0], 1.501);
}

/// Returns the reference's step, continued from the results `got` of another step.
OperatorArrays followed(const OperatorArrays& in,
                        const OperatorArrays& got,
                        Follow follow = Follow::results) {
  OperatorArrays following = in;
  following.followed = &got;
  following.follow = follow;
  return stepped(following);
}

/// Returns another subject's step along -4. Its length may be 1, 1/2 or 1/4.
OperatorArrays tied_step(double length, OperatorArrays& in) {
  in = waves_of_4();
  in[Array::frames].values[0] = 4;
  OperatorArrays got = stepped(in);
  got[Array::step_lengths].values[0] = length;
  got[Array::object].values[0] = 2 - 4 * length;
  return got;
}

TEST(ConjugateGradientStepTest, ATiedLengthIsThatOfTheStepThatIsFollowed) {
  OperatorArrays in;
  for (const double length : {1.0, 0.5, 0.25}) {
    for (const Follow follow : {Follow::choices, Follow::results}) {
      const OperatorArrays out = followed(in, tied_step(length, in), follow);
      EXPECT_EQ(out[Array::step_lengths].values[0], length);
      EXPECT_GE(out[Array::step_lengths].errors[0], 0.25) << "the others could be as well";
      EXPECT_EQ(out[Array::object].values[0], 2 - 4 * length);
      EXPECT_LT(out[Array::object].errors[0], 1e-3);
    }
  }
}

TEST(ConjugateGradientStepTest, ALengthThatNobodyMayFindIsWrong) {
  OperatorArrays in;
  for (const double length : {0.125, 0.3, 2.0, 0.0}) {
    const OperatorArrays out = followed(in, tied_step(length, in));
    EXPECT_NE(out[Array::step_lengths].values[0], length);
    EXPECT_EQ(out[Array::step_lengths].errors[0], 0) << length;
  }
}

TEST(ConjugateGradientStepTest, TheNextPartGoesOnFromWhatWasGotWithinBounds) {
  const OperatorArrays in = waves_of_4();
  OperatorArrays got = stepped(in);
  const double slack = got[Array::object_gradient].errors[0];
  ASSERT_GT(slack, 0);
  got[Array::object_gradient].values[0] += slack / 2;
  const OperatorArrays out = followed(in, got);
  EXPECT_EQ(out[Array::object_direction].values[0], -got[Array::object_gradient].values[0]);
  EXPECT_EQ(out[Array::object_gradient].values[0], 6.0) << "judged by itself";
  // With Follow::choices, the bounds hold for any gradient within its own bound, so the reference
  // uses its own gradient.
  EXPECT_EQ(followed(in, got, Follow::choices)[Array::object_direction].values[0], -6.0);
}

TEST(ConjugateGradientStepTest, TheNextPartDoesNotGoOnFromWhatIsWrong) {
  const OperatorArrays in = waves_of_4();
  OperatorArrays got = stepped(in);
  got[Array::object_gradient].values[0] = 7;
  EXPECT_EQ(followed(in, got)[Array::object_direction].values[0], -6.0);
}

TEST(ConjugateGradientStepTest, AFactorThatRoundingsDecideIsThatOfTheFollowedStep) {
  // Roundings decide the factor of the old direction. It is not below 36 / 2 u.
  const OperatorArrays in = waves_of_4(1, std::nextafter(6, 0));
  OperatorArrays got = stepped(in);
  for (const double direction : {-6.0, 1e16}) {
    got[Array::object_direction].values[0] = direction;
    const OperatorArrays out = followed(in, got);
    EXPECT_NEAR(out[Array::object_direction].values[0].real(), direction, 1e-6 * 1e16);
    EXPECT_LT(out[Array::object_direction].errors[0], 1e12);
  }
  got[Array::object_direction].values[0] = 100;
  EXPECT_GT(std::abs(followed(in, got)[Array::object_direction].values[0] - 100.0), 50);
}

/// Returns two positions that light one pixel each, with the probe i.
OperatorArrays two_pixels(const Values& object,
                          const Values& frames,
                          const Values& object_direction,
                          const Values& object_gradient) {
  return arrays_of({.rows = 1, .cols = 2, .window = 1, .detector = 1},
                   {1, 1},
                   {{Array::object, object},
                    {Array::probe, {1i}},
                    {Array::positions, {0, 0, 0, 1}},
                    {Array::frames, frames},
                    {Array::mask, {1}},
                    {Array::object_direction, object_direction},
                    {Array::object_gradient, object_gradient},
                    {Array::probe_direction, {}},
                    {Array::probe_gradient, {}}});
}

/// The waves are 4i and -4, and the measured amplitudes are 2. So the gradients are 2i and -2 at
/// the detector, and g = (2, 2i).
/// - g - g_old = (4 + i, -6i), so <d_old, g - g_old> = 1 (4 - i) - 2i 6i = 16 - i.
/// - |g|^2 = 8, so d = -g + (8/16) d_old = (-1.5, -3i).
/// - The whole step makes waves of magnitude 2.5 and 1, which cost 0.25 + 1 instead of 8.
/// - There, the gradients at the detector are 0.5i and 1, and the probe's gradient is 2.5 * 0.5i -
///   i = 0.25i. The costs at the lengths 1, 1/2 and 1/4 are 1.578, 1.301 and 1.247.
TEST(ConjugateGradientStepTest, SumsOfComplexPixelsTakeConjugates) {
  const OperatorArrays out = stepped(two_pixels({4, 4i}, {4, 4}, {1, -2i}, {-2.0 - 1i, 8i}));
  expect_values(out, {{Array::cost, {8}}, {Array::object_gradient, {2, 2i}}});
  expect_values(out, {{Array::object_direction, {-1.5, -3i}}, {Array::step_lengths, {1, 0.25}}});
  EXPECT_EQ(out[Array::object].values, (Values{2.5, 1i}));
  expect_near(out[Array::probe_gradient].values, {0.25i});
  expect_values(out, {{Array::probe_direction, {-0.25i}}, {Array::probe, {0.9375i}}}, roundings);
}

TEST(PoissonConjugateGradientStepTest, GoesDownTheCostOfCounts) {
  // The waves are 4 and the count is 1, so the object's gradient is 2 (1 - 1/16) 4.
  const OperatorArrays out = outputs_of(poisson_conjugate_gradient_step::reference, waves_of_4());
  expect_near(out[Array::cost].values, {15 - std::log(16)}, 1e-8);
  EXPECT_NEAR(out[Array::object_gradient].values[0].real(), 7.5, 1e-8);
  // Half of the gradient leads to waves of -3.5. There, the probe's gradient is 1.75 (1 - 4/49)
  // 3.5.
  EXPECT_NEAR(out[Array::object].values[0].real(), -1.75, 1e-8);
  expect_values(out, {{Array::probe_gradient, {5.625}}, {Array::probe, {-0.8125}}}, 1e-8);
  EXPECT_EQ(out[Array::step_lengths].values, (Values{0.5, 0.5}));
}

/// The waves are 2i and -2, and the counts are 2. So the gradients are (1 - 2/4) 2i = i and -1 at
/// the detector, and g = (1, i).
/// - g - g_old = (2 + i, -3i), so <d_old, g - g_old> = 0.5 (2 - i) - i 3i = 4 - 0.5i.
/// - |g|^2 = 2, so d = -g + (2/4) d_old = (-0.75, -1.5i).
/// - The costs are 1.227 before the step, 2.465 behind the whole step, and 0.141 behind half of it.
/// - There, the intensities are I = 1.625^2 and 1.25^2. The probe's gradient is the sum of I - 2,
///   times i: 0.640625i - 0.4375i.
TEST(PoissonConjugateGradientStepTest, SumsOfComplexPixelsTakeConjugates) {
  const OperatorArrays out = outputs_of(poisson_conjugate_gradient_step::reference,
                                        two_pixels({2, 2i}, {2, 2}, {0.5, -1i}, {-1.0 - 1i, 4i}));
  expect_near(out[Array::cost].values, {4 - 4 * std::log(2)}, 1e-8);
  expect_near(out[Array::object_gradient].values, {1, 1i}, 1e-8);
  expect_near(out[Array::object_direction].values, {-0.75, -1.5i}, 1e-8);
  EXPECT_EQ(out[Array::step_lengths].values[0], 0.5);
  expect_values(out, {{Array::object, {1.625, 1.25i}}, {Array::probe_gradient, {0.203125i}}}, 1e-8);
}

}  // namespace
}  // namespace rankcheck::reference
