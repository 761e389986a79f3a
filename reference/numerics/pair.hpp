#pragma once

#include <cmath>

/// Sums of two doubles: expected values are computed and stored in this form.
namespace rankcheck::numerics {

/// The unevaluated sum of two doubles.
struct Pair {
  double high = 0;
  double low = 0;
};

/// high = a + b rounded, low = the rounding error. Exact for any magnitudes unless the sum
/// overflows.
[[nodiscard]] inline Pair two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double a_part = sum - b_part;
  return {sum, (a - a_part) + (b - b_part)};
}

/// high = a * b rounded, low = the rounding error. Exact unless the product overflows or
/// underflows.
[[nodiscard]] inline Pair two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

/// A pair divided by a number, to nearly twice double precision.
[[nodiscard]] inline Pair divided(const Pair& a, double divisor) {
  const double quotient = a.high / divisor;
  if (!std::isfinite(quotient)) return {quotient, 0};
  const double remainder = std::fma(-quotient, divisor, a.high) + a.low;
  return two_sum(quotient, remainder / divisor);
}

/// A sum whose rounding errors are added up separately. As long as `lost` is zero, sum + error is
/// exact. `lost` stays zero for values within about a hundred bits of each other.
struct Cascade {
  double sum = 0;
  double error = 0;
  double lost = 0;

  void add(double x) {
    const Pair first = two_sum(sum, x);
    const Pair second = two_sum(error, first.low);
    sum = first.high;
    error = second.high;
    lost += std::fabs(second.low);
  }
};

}  // namespace rankcheck::numerics
