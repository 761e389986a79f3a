#include "gpu/ptycho/kernels/pixel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace rankcheck::gpu {
namespace {

/// Returns the logarithm's error relative to its bound.
double error_by_bound(float x) {
  const double exact = std::log(static_cast<double>(x));
  const double unit = std::ldexp(1, -24);
  return std::abs(static_cast<double>(logarithm(x)) - exact) / ((2 + std::abs(exact)) * unit);
}

TEST(LogarithmTest, IsWithinItsBoundOverAllExponents) {
  // With a prime stride, every exponent is tried with other mantissas.
  constexpr std::int32_t stride = 7919;
  const auto first = element::bits_as<std::int32_t>(std::numeric_limits<float>::min());
  const auto last = element::bits_as<std::int32_t>(std::numeric_limits<float>::max());
  double worst = 0;
  for (std::int32_t bits = first; bits < last - stride; bits += stride) {
    worst = std::max(worst, error_by_bound(element::bits_as<float>(bits)));
  }
  EXPECT_LE(worst, 1);
}

TEST(LogarithmTest, IsWithinItsBoundAroundOneAndWhereTheExponentChanges) {
  for (const float middle : {1.0F, std::sqrt(0.5F), std::sqrt(2.0F), 2.0F}) {
    const auto bits = element::bits_as<std::int32_t>(middle);
    double worst = 0;
    for (std::int32_t i = -1000; i <= 1000; ++i) {
      worst = std::max(worst, error_by_bound(element::bits_as<float>(bits + i)));
    }
    EXPECT_LE(worst, 1) << middle;
  }
}

TEST(LogarithmTest, IsExactlyZeroAtOne) {
  EXPECT_EQ(logarithm(1.0F), 0);
}

/// If I is close to d, d log(I / d) is close to 0, and the whole cost is a small difference.
TEST(PoissonPixelTest, CostsNothingWhereTheModelIsRight) {
  EXPECT_EQ(poisson_pixel(5.0F, 5.0F).cost, 0);
  EXPECT_EQ(poisson_pixel(5.0F, 5.0F).factor, 0);
}

}  // namespace
}  // namespace rankcheck::gpu
