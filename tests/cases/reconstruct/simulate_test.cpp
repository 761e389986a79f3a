#include "cases/reconstruct/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "harness/case/case.hpp"

#include "cases/reconstruct/model.hpp"
namespace rankcheck::cases::reconstruct {
namespace {

Simulation small() {
  return {.positions = 9, .detector = 16, .probe = 12, .modes = 3, .step = 3};
}

std::complex<double> product(const Dataset& data, std::ptrdiff_t a, std::ptrdiff_t b) {
  std::complex<double> sum = 0;
  const std::ptrdiff_t pixels = std::ptrdiff_t{data.window} * data.window;
  for (std::ptrdiff_t i = 0; i < pixels; ++i) {
    sum += std::complex<double>(data.probe[spec::to_size(a * pixels + i)]) *
           std::conj(std::complex<double>(data.probe[spec::to_size(b * pixels + i)]));
  }
  return sum;
}

TEST(SimulateTest, MakesOrthogonalModesOfHalvingPower) {
  const Dataset data = simulate(small());
  const double power = product(data, 0, 0).real();
  EXPECT_NEAR(power, 1e6 / 1.75, 1);
  EXPECT_NEAR(product(data, 1, 1).real() / power, 0.5, 1e-6);
  EXPECT_NEAR(product(data, 2, 2).real() / power, 0.25, 1e-6);
  for (const auto& [a, b] : {std::pair{0, 1}, std::pair{0, 2}, std::pair{1, 2}}) {
    EXPECT_LE(std::abs(product(data, a, b)), 1e-6 * power) << a << ' ' << b;
  }
}

TEST(SimulateTest, KeepsAmplitudesAndWindowsWithinTheirLimits) {
  for (const ScanPath path : {ScanPath::raster, ScanPath::spiral, ScanPath::random}) {
    Simulation simulation = small();
    simulation.path = path;
    const Dataset data = simulate(simulation);
    for (const std::complex<float>& value : data.object) {
      EXPECT_GE(std::abs(value), 0.5F - 1e-6F);
      EXPECT_LE(std::abs(value), 1 + 1e-6F);
    }
    const auto [least, most] = std::minmax_element(data.positions.begin(), data.positions.end());
    EXPECT_GE(*least, 1);
    EXPECT_LT(*most + static_cast<float>(data.window) + 1, static_cast<float>(data.rows));
  }
}

TEST(SimulateTest, IsAFunctionOfItsSeed) {
  Simulation simulation = small();
  simulation.poisson = true;
  const Dataset data = simulate(simulation);
  EXPECT_EQ(simulate(simulation).frames, data.frames);
  simulation.seed = 2;
  EXPECT_NE(simulate(simulation).object, data.object);
}

/// Tests mean and variance of (count - mean) / sqrt(mean) over all bright pixels.
TEST(SimulateTest, NoiseHasTheMeanAndVarianceOfPoisson) {
  for (const double photons : {500.0, 1e5}) {
    Simulation simulation = small();
    simulation.positions = 100;
    simulation.photons = photons;
    const Dataset clean = simulate(simulation);
    simulation.poisson = true;
    const Dataset noisy = simulate(simulation);
    double sum = 0;
    double squares = 0;
    double pixels = 0;
    for (std::size_t i = 0; i < clean.frames.size(); ++i) {
      EXPECT_EQ(noisy.frames[i], std::floor(noisy.frames[i]));
      if (clean.frames[i] < 0.5F) continue;
      const double off = (noisy.frames[i] - clean.frames[i]) / std::sqrt(clean.frames[i]);
      sum += off;
      squares += off * off;
      ++pixels;
    }
    // The limits are five standard deviations each. The fourth moment is at most 3 + 1/mean = 5.
    ASSERT_GT(pixels, 1000);
    EXPECT_LE(std::abs(sum / pixels), 5 / std::sqrt(pixels)) << photons;
    EXPECT_LE(std::abs(squares / pixels - 1), 5 * std::sqrt(4 / pixels)) << photons;
  }
}

TEST(SimulateTest, RejectsAnObjectThatIsTooSmall) {
  Simulation simulation = small();
  simulation.object = 12;
  EXPECT_THROW(static_cast<void>(simulate(simulation)), harness::BadInput);
}

TEST(WithModesTest, AddsWeakOrthogonalModes) {
  Simulation simulation = small();
  simulation.modes = 1;
  Dataset data = simulate(simulation);
  data.probe = with_modes(data, 3);
  ASSERT_EQ(data.probe.size(), 3U * 12 * 12);
  const double power = product(data, 0, 0).real();
  EXPECT_NEAR(product(data, 1, 1).real() / power, 0.1, 1e-6);
  EXPECT_NEAR(product(data, 2, 2).real() / power, 0.05, 1e-6);
  EXPECT_LE(std::abs(product(data, 0, 2)), 1e-6 * power);
  EXPECT_LE(std::abs(product(data, 1, 2)), 1e-6 * power);
}

TEST(WithModesTest, DropsTheLast) {
  const Dataset data = simulate(small());
  const std::vector<std::complex<float>> probe = with_modes(data, 1);
  ASSERT_EQ(probe.size(), 144U);
  EXPECT_TRUE(std::equal(probe.begin(), probe.end(), data.probe.begin()));
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
