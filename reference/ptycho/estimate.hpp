#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <span>

#include "reference/numerics/dft.hpp"
#include "reference/ptycho/bounded_array.hpp"
#include "reference/ptycho/cancellation.hpp"
#include "reference/spec/to_size.hpp"

/// Running error analysis: numbers with a bound on the error of any implementation's result. See
/// Higham, Accuracy and Stability of Numerical Algorithms, chapter 3.
namespace rankcheck::reference {

/// Bounds the relative error of a number after `roundings` successive roundings.
inline double growth(double roundings, double unit) {
  return roundings * unit / (1 - roundings * unit);
}

/// The error of a complex product equals sqrt(5) roundings at most (Brent, Percival, Zimmermann
/// 2007).
inline constexpr double product_roundings = 2.24;

/// A number, and a bound on the distance of any implementation's result from it.
struct Estimate {
  std::complex<double> value = 0;
  double error = 0;

  /// Bounds the magnitude of any implementation's result.
  [[nodiscard]] double magnitude() const { return std::abs(value) + error; }
};

inline Estimate at(const BoundedArray& bounded, std::size_t index) {
  return {.value = bounded.values[index], .error = bounded.errors[index]};
}

inline void store(const Estimate& estimate, std::size_t index, BoundedArray& bounded) {
  bounded.values[index] = estimate.value;
  bounded.errors[index] = estimate.error;
}

inline Estimate conj(const Estimate& a) {
  return {.value = std::conj(a.value), .error = a.error};
}

inline Estimate product(const Estimate& a, const Estimate& b, double unit) {
  const double error = a.error * std::abs(b.value) + a.magnitude() * b.error +
                       growth(product_roundings, unit) * a.magnitude() * b.magnitude();
  // 0 times an infinite error gives NaN: the result has no bound.
  return {.value = a.value * b.value,
          .error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error};
}

inline Estimate real(const Estimate& a) {
  return {.value = a.value.real(), .error = a.error};
}

/// The sum of two numbers, with one rounding.
inline Estimate sum(const Estimate& a, const Estimate& b, double unit) {
  const Estimate exact{.value = a.value + b.value, .error = a.error + b.error};
  return {.value = exact.value, .error = exact.error + growth(1, unit) * exact.magnitude()};
}

inline Estimate difference(const Estimate& a, const Estimate& b, double unit) {
  return sum(a, {.value = -b.value, .error = b.error}, unit);
}

/// a / b, or a times the reciprocal of b, for a real b > 0. The error is infinite if an
/// implementation's b may be 0.
inline Estimate quotient(const Estimate& a, const Estimate& b, double unit) {
  const double divisor = b.value.real();
  if (!(divisor > b.error)) return {.value = 0, .error = std::numeric_limits<double>::infinity()};
  Estimate exact{.value = a.value / divisor, .error = 0};
  exact.error = (a.error + std::abs(exact.value) * b.error) / (divisor - b.error);
  return {.value = exact.value, .error = exact.error + growth(3, unit) * exact.magnitude()};
}

/// A sum in any order, which may also be computed in parts.
class Sum {
 public:
  /// Adds weight * term. `roundings` counts the roundings of this product. The weight is not
  /// negative.
  void add(const Estimate& term, double weight = 1, double roundings = 0) {
    value_ += weight * term.value;
    error_ += weight * term.error;
    magnitude_ += weight * term.magnitude();
    roundings_ = std::max(roundings_, roundings);
    terms_ += 1;
  }

  /// The sum. Each of k terms is added to others at most k - 1 times.
  [[nodiscard]] Estimate estimate(double unit) const {
    if (terms_ == 0) return {};
    return {.value = value_, .error = error_ + growth(terms_ - 1 + roundings_, unit) * magnitude_};
  }

 private:
  std::complex<double> value_ = 0;
  double error_ = 0;
  double magnitude_ = 0;
  double roundings_ = 0;
  double terms_ = 0;
};

/// Stores sums into an array with as many values.
inline void store(std::span<const Sum> sums, double unit, BoundedArray& bounded) {
  for (std::size_t i = 0; i < sums.size(); ++i) store(sums[i].estimate(unit), i, bounded);
}

/// The inner product <a, b> = sum of a conj(b) of two arrays, in any order.
inline Estimate inner_product(const BoundedArray& a, const BoundedArray& b, double unit) {
  Sum sum;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    sum.add(product(at(a, i), conj(at(b, i)), unit));
  }
  return sum.estimate(unit);
}

/// The largest value of an array. The values are real and not negative.
inline Estimate largest(const BoundedArray& bounded) {
  Estimate result;
  for (std::size_t i = 0; i < bounded.values.size(); ++i) {
    result.value = std::max(result.value.real(), bounded.values[i].real());
    result.error = std::max(result.error, bounded.errors[i]);
  }
  return result;
}

/// before + length * direction, value by value. If the length is exactly 0, returns `before`
/// unchanged.
inline BoundedArray moved(const BoundedArray& before,
                          const Estimate& length,
                          const BoundedArray& direction,
                          double unit) {
  BoundedArray after = before;
  if (length.magnitude() == 0) return after;
  for (std::size_t i = 0; i < after.values.size(); ++i) {
    store(sum(at(before, i), product(length, at(direction, i), unit), unit), i, after);
  }
  return after;
}

/// The Euclidean length of a vector of numbers.
inline double length_of(std::span<const double> numbers) {
  double energy = 0;
  for (const double number : numbers) energy += number * number;
  return std::sqrt(energy);
}

/// Transforms a square frame; both directions are unitary. `length` bounds the Euclidean length of
/// the vector of the frame's errors, on entry and on return. A transform keeps this length, except
/// for its own roundings. No pixel is off by more than `length`, nor by more than the sum of all
/// errors divided by the width.
///
/// The roundings of one pixel are at most `own`. The vector of all roundings is longer. The
/// transform of an axis is a product of unitary matrices A. The errors of each are at most |A|,
/// whose norm is at most the square root of the width (Higham, section 24.1).
inline void transform(Direction direction,
                      int width,
                      double unit,
                      std::span<std::complex<double>> values,
                      std::span<double> errors,
                      double& length) {
  double error_sum = 0;
  double energy = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error_sum += errors[i];
    const double magnitude = std::abs(values[i]) + errors[i];
    energy += magnitude * magnitude;
  }
  const double own = growth(transform_roundings(width), unit) * std::sqrt(energy);
  const double error = std::min(error_sum / width, length) + own;
  length += own * std::sqrt(static_cast<double>(width));
  transform(direction, width, values);
  for (double& each : errors) each = error;
}

/// Transforms every frame of an array.
inline void transform(Direction direction, int width, double unit, BoundedArray& bounded) {
  const std::size_t frame = spec::to_size(width) * spec::to_size(width);
  for (std::size_t first = 0; first < bounded.values.size(); first += frame) {
    CancellationScope::check();
    const auto errors = std::span(bounded.errors).subspan(first, frame);
    double length = length_of(errors);
    transform(
        direction, width, unit, std::span(bounded.values).subspan(first, frame), errors, length);
  }
}

}  // namespace rankcheck::reference
