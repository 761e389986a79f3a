#include <cmath>

#include <gtest/gtest.h>

#include "reference/ptycho/poisson_conjugate_gradient_step/reference.hpp"

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

}  // namespace
}  // namespace rankcheck::reference::poisson_conjugate_gradient_step
