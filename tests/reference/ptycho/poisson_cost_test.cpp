#include <cmath>
#include <complex>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"
#include "tests/reference/ptycho/pixel.hpp"

namespace rankcheck::reference::poisson_cost {
namespace {

using spec::Array;

/// The floor e = 1e-9 of intensities moves the values below by about as much.
constexpr double floor = 1e-8;

TEST(PoissonCostTest, ComparesIntensities) {
  // I = 4 and d = 1: 4 - 1 - log 4.
  const OperatorArrays out = outputs_of(reference, far_pixels({1}, {2i}, {1}));
  EXPECT_NEAR(out[Array::cost].values[0].real(), 3 - std::log(4), floor);
}

TEST(PoissonCostTest, TheGradientIsTheShareThatTheIntensityHasTooMuch) {
  // (1 - 1/4) 2i.
  const OperatorArrays out = outputs_of(reference, far_pixels({1}, {2i}, {1}));
  EXPECT_NEAR(std::abs(out[Array::far_waves].values[0] - 1.5i), 0, floor);
}

TEST(PoissonCostTest, ModesShareTheIntensity) {
  // I = 1 + 3 and d = 2: 4 - 2 - 2 log 2 and (1 - 2/4) F.
  OperatorArrays in = far_pixels({1}, {0}, {2});
  in.scene.modes = 2;
  in[Array::far_waves] = {.values = {1, std::sqrt(3.0) * 1i}, .errors = {0, 0}};
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_NEAR(out[Array::cost].values[0].real(), 2 - 2 * std::log(2), floor);
  EXPECT_NEAR(std::abs(out[Array::far_waves].values[0] - 0.5), 0, floor);
  EXPECT_NEAR(std::abs(out[Array::far_waves].values[1] - std::sqrt(0.75) * 1i), 0, floor);
}

TEST(PoissonCostTest, TheRightIntensityCostsNothing) {
  const OperatorArrays out = outputs_of(reference, far_pixels({1}, {2i}, {4}));
  EXPECT_NEAR(out[Array::cost].values[0].real(), 0, floor);
  EXPECT_NEAR(std::abs(out[Array::far_waves].values[0]), 0, floor);
}

TEST(PoissonCostTest, WithoutPhotonsAllOfTheIntensityCosts) {
  // d = 0: I + e, and the gradient is the wave.
  const OperatorArrays out = outputs_of(reference, far_pixels({1}, {2i}, {0}));
  EXPECT_EQ(out[Array::cost].values[0], 4 + 1e-9);
  EXPECT_EQ(out[Array::far_waves].values, Values{2i});
}

TEST(PoissonCostTest, TheFloorStandsForNoIntensity) {
  // I = 0 and d = 1: e - 1 - log e, with log e = -9 log 10.
  const OperatorArrays out = outputs_of(reference, far_pixels({1}, {0}, {1}));
  EXPECT_NEAR(out[Array::cost].values[0].real(), 1e-9 - 1 + 9 * std::log(10), 1e-13);
  EXPECT_EQ(out[Array::far_waves].values, Values{0});
}

TEST(PoissonCostTest, SumsThePositionsOfAllRanks) {
  // 4 + 0 + 1 without photons, and 4 - 1 - log 4.
  const OperatorArrays out =
      outputs_of(reference, far_pixels({2, 0, 2}, {2, 0, 1i, 2}, {0, 0, 0, 1}));
  EXPECT_NEAR(out[Array::cost].values[0].real(), 8 - std::log(4), floor);
}

TEST(PoissonCostTest, UnmeasuredPixelsAddNothing) {
  OperatorArrays in = empty_arrays({.window = 2, .detector = 2}, {1, 1});
  in.make(Array::far_waves).values = {2, 4, 4, 1i, 2, 4, 4, 1i};
  in.make(Array::frames);
  in.make(Array::mask).values = {1, 0, 0, 1};
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_NEAR(out[Array::cost].values[0].real(), 2 * (4 + 1), floor);
  EXPECT_EQ(out[Array::far_waves].values, (Values{2, 0, 0, 1i, 2, 0, 0, 1i}));
}

TEST(PoissonCostTest, TheCostIsAsUncertainAsTheWave) {
  // Without photons, the cost is the intensity: (2 + 0.5)^2 and not 2^2.
  OperatorArrays in = far_pixels({1}, {2}, {0});
  in[Array::far_waves].errors = {0.5};
  expect_bound(outputs_of(reference, in)[Array::cost].errors[0], 2.5 * 2.5 - 2 * 2);
}

}  // namespace
}  // namespace rankcheck::reference::poisson_cost
