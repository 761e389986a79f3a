#include <cmath>
#include <complex>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"
#include "tests/reference/ptycho/pixel.hpp"

namespace rankcheck::reference::poisson_gradients {
namespace {

using spec::Array;

/// The floor e = 1e-9 of intensities moves the values below by less.
constexpr double floor = 1e-7;

TEST(PoissonGradientsTest, TheCostComparesIntensities) {
  // I = |2 * 4i|^2 = 64 and d = 32: 64 - 32 - 32 log 2, at each of two positions.
  const OperatorArrays out = outputs_of(reference, lit_pixel(2, 4i, 32, 2));
  EXPECT_NEAR(out[Array::cost].values[0].real(), 2 * (32 - 32 * std::log(2)), floor);
}

TEST(PoissonGradientsTest, TheObjectGetsTheGradientBackWithTheConjugateProbe) {
  // G = (1 - 32 / 64) 8i = 4i: conj(4i) 4i at each of two positions.
  const OperatorArrays out = outputs_of(reference, lit_pixel(2, 4i, 32, 2));
  EXPECT_NEAR(std::abs(out[Array::object].values[0] - 32.0), 0, floor);
  EXPECT_EQ(out[Array::object].values[1], 0.0);
}

TEST(PoissonGradientsTest, TheProbeGetsTheGradientBackWithTheConjugateObject) {
  // G = 4i: conj(2i) 4i at each of two positions.
  const OperatorArrays out = outputs_of(reference, lit_pixel(2i, 4, 32, 2));
  EXPECT_NEAR(std::abs(out[Array::probe].values[0] - 16.0), 0, floor);
}

TEST(PoissonGradientsTest, UnmeasuredPixelsAddNothing) {
  OperatorArrays in = lit_pixel(2, 4i, 32);
  in[Array::mask].values[0] = 0;
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_EQ(out[Array::cost].values, Values{0});
  EXPECT_EQ(out[Array::object].values, (Values{0, 0}));
  EXPECT_EQ(out[Array::probe].values, Values{0});
}

}  // namespace
}  // namespace rankcheck::reference::poisson_gradients
