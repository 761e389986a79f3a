#include "reference/ptycho/chain.hpp"

#include <cmath>
#include <complex>
#include <cstddef>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"
#include "tests/reference/ptycho/slices.hpp"

namespace rankcheck::reference {
namespace {

using spec::Array;

/// Compares the cost's derivative with the gradient, along a direction in `count` values of an
/// array from `first` on. The derivative is twice the real part of gradient times direction.
void expect_derivative(Operator gradients, Array array, std::size_t first, std::size_t count) {
  OperatorArrays in = three_slices();
  in[Array::positions].values = {0.25, 1.5, 0.75, 0.5};
  in.make(Array::frames);
  for (std::size_t at = 0; at < in.size(Array::frames); ++at) {
    in[Array::frames].values[at] = static_cast<double>(at % 4) + 0.5;
  }
  in.make(Array::mask).values.assign(9, 1);
  in[Array::mask].values[3] = 0;
  const Values gradient = outputs_of(gradients, in)[array].values;
  const Values direction = turned(count);
  const auto cost = [&](double step) {
    OperatorArrays moved = in;
    for (std::size_t at = 0; at < count; ++at) {
      moved[array].values[first + at] += step * direction[at];
    }
    return outputs_of(gradients, moved)[Array::cost].values.front().real();
  };
  double expected = 0;
  for (std::size_t at = 0; at < count; ++at) {
    expected += 2 * (std::conj(gradient[first + at]) * direction[at]).real();
  }
  // The difference quotient is off by the square of the step, and by roundings divided by the step.
  EXPECT_NEAR((cost(1e-5) - cost(-1e-5)) / 2e-5, expected, 1e-7 * std::abs(cost(0)));
  EXPECT_GT(std::abs(expected), 1e-3 * std::abs(cost(0)));
}

TEST(GradientsTest, GradientsByEachSliceAreTheCostsDerivatives) {
  for (const Operator gradients : {gaussian_gradients::reference, poisson_gradients::reference}) {
    for (std::size_t slice = 0; slice < 3; ++slice) {
      SCOPED_TRACE(slice);
      expect_derivative(gradients, Array::object, slice * 20, 20);
    }
  }
}

TEST(GradientsTest, GradientsByEachModeAreTheCostsDerivatives) {
  for (const Operator gradients : {gaussian_gradients::reference, poisson_gradients::reference}) {
    for (std::size_t mode = 0; mode < 2; ++mode) {
      SCOPED_TRACE(mode);
      expect_derivative(gradients, Array::probe, mode * 9, 9);
    }
  }
}

}  // namespace
}  // namespace rankcheck::reference
