#pragma once

#include <cmath>

/// Sums of two doubles: the arithmetic that expected values are kept in.
namespace rankcheck::numerics {

/// The unevaluated sum of two doubles.
struct Pair {
  double high = 0;
  double low = 0;
};

/// high = a + b rounded, low = its error; exact without overflow, for any magnitudes.
[[nodiscard]] inline Pair two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double a_part = sum - b_part;
  return {sum, (a - a_part) + (b - b_part)};
}

/// high = a * b rounded, low = its error; exact without overflow and underflow.
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

/// A sum with its rounding errors summed beside it. As long as `lost` stays zero, sum + error is
/// exact; it does for values within some hundred bits of each other.
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
