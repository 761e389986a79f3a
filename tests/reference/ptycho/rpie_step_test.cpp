#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"
#include "tests/reference/ptycho/pixel.hpp"

namespace rankcheck::reference::rpie_step {
namespace {

using spec::Array;

TEST(RpieStepTest, WhereTheLightIsStrongestAllOfItDivides) {
  // The waves are 8i, and the measured amplitude is 4, so G = 4i. The object's gradient is conj(4i)
  // 4i = 16, and the probe's gradient conj(2) 4i = 8i. D = 16 and E = 4 are the largest weights.
  const OperatorArrays out = outputs_of(reference, lit_pixel(2, 4i, 16));
  expect_near(out[Array::object].values, {2.0 - 16.0 / 16, 7});
  expect_near(out[Array::probe].values, {4i - 8i / 4.0});
}

TEST(RpieStepTest, TheCostIsThatOfObjectAndProbeBefore) {
  // (8 - 4)^2 at each of three positions.
  EXPECT_EQ(outputs_of(reference, lit_pixel(2, 4i, 16, 3))[Array::cost].values, Values{48});
}

TEST(RpieStepTest, APixelOfLittleLightIsDividedByLittleMoreThanIts) {
  // Two positions of rank 0 light the first pixel, one of rank 2 the second. So D = 32 and 16, and
  // g = 32 and 16. The second divisor is 0.95 * 16 + 0.05 * 32 = 16.8.
  OperatorArrays in = lit_pixel(2, 4i, 16, 3);
  in.counts = {2, 0, 1};
  in[Array::object].values = {2, 2};
  in[Array::positions].values[5] = 1;
  expect_near(outputs_of(reference, in)[Array::object].values, {1, 2 - 16 / 16.8});
}

TEST(RpieStepTest, APixelOfTheProbeIsDividedByLittleMoreThanItsObject) {
  // Nothing is measured, so G = F, and its transform is the wave o P. So g = |o|^2 P and E =
  // |o|^2, which is 1, 4, 0 and 0. The divisors are 0.95 + 0.05 * 4 = 1.15, 4, 0.2 and 0.2.
  OperatorArrays in = empty_arrays({.rows = 2, .cols = 2, .window = 2, .detector = 2}, {1});
  in.make(Array::object).values = {1, 2i, 0, 0};
  in.make(Array::probe).values = {23, 4, 4i, 4};
  in.make(Array::positions);
  in.make(Array::frames);
  in.make(Array::mask).values.assign(4, 1);
  expect_near(outputs_of(reference, in)[Array::probe].values, {23 - 20, 0, 4i, 4});
}

TEST(RpieStepTest, UnmeasuredPixelsMoveNothing) {
  OperatorArrays in = lit_pixel(2, 4i, 16);
  in[Array::mask].values[0] = 0;
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_EQ(out[Array::object].values, (Values{2, 7}));
  EXPECT_EQ(out[Array::probe].values, Values{4i});
}

TEST(RpieStepTest, WithoutLightTheObjectStaysAndIsExact) {
  const OperatorArrays out = outputs_of(reference, lit_pixel(2, 0, 16));
  EXPECT_EQ(out[Array::object].values, (Values{2, 7}));
  EXPECT_EQ(out[Array::object].errors, (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace rankcheck::reference::rpie_step
