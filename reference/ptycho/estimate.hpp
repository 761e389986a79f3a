#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <span>

#include "reference/numerics/dft.hpp"
#include "reference/ptycho/field.hpp"

/// Running error analysis: numbers together with a bound on the error of anyone's result. See
/// Higham, Accuracy and Stability of Numerical Algorithms, chapter 3.
namespace rankcheck::reference {

/// What `roundings` roundings one after the other do to a number, relative to it.
inline double growth(double roundings, double unit) {
  return roundings * unit / (1 - roundings * unit);
}

/// The product of two complex numbers is as good as if sqrt(5) roundings had been made (Brent,
/// Percival, Zimmermann 2007).
inline constexpr double product_roundings = 2.24;

/// A number and how far off anyone's may be.
struct Estimate {
  std::complex<double> value = 0;
  double error = 0;

  /// Bounds anyone's number.
  [[nodiscard]] double magnitude() const { return std::abs(value) + error; }
};

inline Estimate at(const Field& field, std::size_t index) {
  return {.value = field.values[index], .error = field.errors[index]};
}

inline Estimate conj(const Estimate& a) {
  return {.value = std::conj(a.value), .error = a.error};
}

inline Estimate product(const Estimate& a, const Estimate& b, double unit) {
  return {.value = a.value * b.value,
          .error = a.error * std::abs(b.value) + a.magnitude() * b.error +
                   growth(product_roundings, unit) * a.magnitude() * b.magnitude()};
}

/// A sum in any order, also in parts.
class Sum {
 public:
  /// weight * term, where `roundings` are those of the product; weights are not negative.
  void add(const Estimate& term, double weight = 1, double roundings = 0) {
    value_ += weight * term.value;
    error_ += weight * term.error;
    magnitude_ += weight * term.magnitude();
    roundings_ = std::max(roundings_, roundings);
    terms_ += 1;
  }

  /// Each of k terms is added to others at most k - 1 times.
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

/// Stores sums into a field of as many values.
inline void store(std::span<const Sum> sums, double unit, Field& field) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Estimate sum = sums[i].estimate(unit);
    field.values[i] = sum.value;
    field.errors[i] = sum.error;
  }
}

/// Transforms a square frame; both directions are unitary. What is added to every pixel is bounded
/// by what is added to all of them together.
inline void transform(Direction direction,
                      int width,
                      double unit,
                      std::span<std::complex<double>> values,
                      std::span<double> errors) {
  double error_sum = 0;
  double energy = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error_sum += errors[i];
    const double magnitude = std::abs(values[i]) + errors[i];
    energy += magnitude * magnitude;
  }
  const double error =
      error_sum / width + growth(transform_roundings(width), unit) * std::sqrt(energy);
  transform(direction, width, values);
  for (double& each : errors) each = error;
}

/// Transforms every frame of a field.
inline void transform(Direction direction, int width, double unit, Field& field) {
  const std::size_t frame = static_cast<std::size_t>(width) * static_cast<std::size_t>(width);
  for (std::size_t first = 0; first < field.values.size(); first += frame) {
    transform(direction,
              width,
              unit,
              std::span(field.values).subspan(first, frame),
              std::span(field.errors).subspan(first, frame));
  }
}

}  // namespace rankcheck::reference
