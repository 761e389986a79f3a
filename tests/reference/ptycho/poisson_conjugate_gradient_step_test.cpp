#include <cmath>
#include <complex>
#include <cstddef>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/pixel.hpp"

namespace rankcheck::reference::poisson_conjugate_gradient_step {
namespace {

using spec::Array;

TEST(PoissonConjugateGradientStepTest, GoesDownTheCostOfCounts) {
  // The waves are 4 and the count is 1, so the object's gradient is 2 (1 - 1/16) 4.
  OperatorArrays in = lit_pixel(2, 2, 1);
  for (const Array array : {Array::object_direction,
                            Array::object_gradient,
                            Array::probe_direction,
                            Array::probe_gradient}) {
    in.make(array);
  }
  OperatorArrays out = in;
  reference(in, out);
  EXPECT_NEAR(out[Array::cost].values[0].real(), 15 - std::log(16), 1e-8);
  EXPECT_NEAR(out[Array::object_gradient].values[0].real(), 7.5, 1e-8);
  // Half of the gradient leads to waves of -3.5. There, the probe's gradient is 1.75 (1 - 4/49)
  // 3.5.
  EXPECT_NEAR(out[Array::object].values[0].real(), -1.75, 1e-8);
  EXPECT_NEAR(out[Array::probe_gradient].values[0].real(), 5.625, 1e-8);
  EXPECT_NEAR(out[Array::probe].values[0].real(), -0.8125, 1e-8);
  EXPECT_EQ(out[Array::step_lengths].values[0], 0.5);
  EXPECT_EQ(out[Array::step_lengths].values[1], 0.5);
}

/// Two positions light one pixel each. The probe i makes the waves 2i and -2, and the counts are 2.
/// So the gradients are (1 - 2/4) 2i = i and -1 at the detector, and g = (1, i).
/// - g - g_old = (2 + i, -3i), so <d_old, g - g_old> = 0.5 (2 - i) - i 3i = 4 - 0.5i.
/// - |g|^2 = 2, so d = -g + (2/4) d_old = (-0.75, -1.5i).
/// - The costs are 1.227 before the step, 2.465 behind the whole step, and 0.141 behind half of it.
/// - There, the intensities are I = 1.625^2 and 1.25^2. The probe's gradient is the sum of I - 2,
///   times i: 0.640625i - 0.4375i.
TEST(PoissonConjugateGradientStepTest, SumsOfComplexPixelsTakeConjugates) {
  OperatorArrays in = empty_arrays({.rows = 1, .cols = 2, .window = 1, .detector = 1}, {1, 1});
  in.make(Array::object).values = {2, 2i};
  in.make(Array::probe).values = {1i};
  in.make(Array::positions).values = {0, 0, 0, 1};
  in.make(Array::frames).values = {2, 2};
  in.make(Array::mask).values = {1};
  in.make(Array::object_direction).values = {0.5, -1i};
  in.make(Array::object_gradient).values = {-1.0 - 1i, 4i};
  in.make(Array::probe_direction);
  in.make(Array::probe_gradient);
  const OperatorArrays out = outputs_of(reference, in);
  const auto expect_close = [&](Array array, const Values& expected) {
    ASSERT_EQ(out[array].values.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LE(std::abs(out[array].values[i] - expected[i]), 1e-8) << spec::name(array) << i;
    }
  };
  expect_close(Array::cost, {4 - 4 * std::log(2)});
  expect_close(Array::object_gradient, {1, 1i});
  expect_close(Array::object_direction, {-0.75, -1.5i});
  EXPECT_EQ(out[Array::step_lengths].values[0], 0.5);
  expect_close(Array::object, {1.625, 1.25i});
  expect_close(Array::probe_gradient, {0.203125i});
}

}  // namespace
}  // namespace rankcheck::reference::poisson_conjugate_gradient_step
