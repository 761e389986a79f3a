#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"
#include "tests/reference/ptycho/pixel.hpp"

namespace rankcheck::reference::epie_step {
namespace {

using spec::Array;

/// The waves are 2 * 4i with an amplitude of 8, and the measured amplitude is 4.
OperatorArrays inputs(std::int64_t positions = 1) {
  return lit_pixel(2, 4i, 16, positions);
}

TEST(EpieStepTest, TheObjectGoesDownItsGradientDividedByTheLight) {
  // G = (1 - 4/8) 8i = 4i, so g = conj(4i) 4i = 16. D = |4i|^2 = 16.
  EXPECT_EQ(outputs_of(reference, inputs())[Array::object].values, (Values{2.0 - 16.0 / 16, 7}));
}

TEST(EpieStepTest, TheProbeGoesDownItsGradientDividedByTheObject) {
  // G = 4i, so g = conj(2) 4i = 8i. E = |2|^2 = 4.
  EXPECT_EQ(outputs_of(reference, inputs())[Array::probe].values, Values{4i - 8i / 4.0});
}

TEST(EpieStepTest, TheCostIsThatOfObjectAndProbeBefore) {
  // (8 - 4)^2 at each of three positions.
  EXPECT_EQ(outputs_of(reference, inputs(3))[Array::cost].values, Values{48});
}

TEST(EpieStepTest, TheSamePositionAgainChangesNoStep) {
  const OperatorArrays out = outputs_of(reference, inputs(3));
  EXPECT_EQ(out[Array::object].values, (Values{1, 7}));
  EXPECT_EQ(out[Array::probe].values, Values{2i});
}

TEST(EpieStepTest, APixelOfLittleLightGoesAsSlowlyAsItsLightSays) {
  // Two positions of rank 0 light the first pixel, one of rank 2 the second. So D = 32 and 16, g =
  // 32 and 16, and both are divided by 32.
  OperatorArrays in = inputs(3);
  in.counts = {2, 0, 1};
  in[Array::object].values = {2, 2};
  in[Array::positions].values[5] = 1;
  EXPECT_EQ(outputs_of(reference, in)[Array::object].values, (Values{1, 1.5}));
}

TEST(EpieStepTest, APixelOfTheProbeGoesAsSlowlyAsItsObjectSays) {
  // Nothing is measured, so G = F, and its transform is the wave o P. So g = |o|^2 P and E =
  // |o|^2, which is 1, 4, 0 and 0. All is divided by 4.
  OperatorArrays in = empty_arrays({.rows = 2, .cols = 2, .window = 2, .detector = 2}, {1});
  in.make(Array::object).values = {1, 2i, 0, 0};
  in.make(Array::probe).values = {4, 4, 4i, 4};
  in.make(Array::positions);
  in.make(Array::frames);
  in.make(Array::mask).values.assign(4, 1);
  expect_near(outputs_of(reference, in)[Array::probe].values, {3, 0, 4i, 4});
}

TEST(EpieStepTest, TheModesShareTheStepOfTheObject) {
  // The waves are 3 and 4i with an amplitude of 5, and the measured amplitude is 10. So G = -F, g =
  // -25, and D = 9 + 16. The probe's modes become twice as large.
  OperatorArrays in = lit_pixel(1, 0, 100);
  in.scene.modes = 2;
  in.make(Array::probe).values = {3, 4i};
  const OperatorArrays out = outputs_of(reference, in);
  expect_near(out[Array::object].values, {2, 7});
  expect_near(out[Array::probe].values, {6, 8i});
}

TEST(EpieStepTest, UnmeasuredPixelsMoveNothing) {
  OperatorArrays in = inputs();
  in[Array::mask].values[0] = 0;
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_EQ(out[Array::cost].values, Values{0});
  EXPECT_EQ(out[Array::object].values, (Values{2, 7}));
  EXPECT_EQ(out[Array::probe].values, Values{4i});
}

TEST(EpieStepTest, WithoutLightTheObjectStaysAndIsExact) {
  const OperatorArrays out = outputs_of(reference, lit_pixel(2, 0, 16));
  EXPECT_EQ(out[Array::object].values, (Values{2, 7}));
  EXPECT_EQ(out[Array::object].errors, (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace rankcheck::reference::epie_step
