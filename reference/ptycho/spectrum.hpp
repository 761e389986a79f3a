#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "reference/ptycho/estimate.hpp"
#include "reference/spec/to_size.hpp"

/// Functions that act on the frequencies of frames.
namespace rankcheck::reference {

/// Frequency of index k of a transform, in cycles per pixel: in [-1/2, 1/2).
inline double frequency(int k, int width) {
  return static_cast<double>(2 * k < width ? k : k - width) / width;
}

/// A factor that the reference and every implementation compute in double precision. Its exponent
/// may be off by `error` in either. The two roundings are those of its components to the precision
/// under test, and of the functions that compute them.
inline Estimate tabulated(std::complex<double> value, double error, double unit) {
  return {.value = value, .error = 2 * error + growth(2, unit) * std::abs(value)};
}

/// The factor of frequency (k, l) for the scene's distance in free space.
inline Estimate free_space(const spec::Scene& scene, int width, int k, int l, double unit) {
  constexpr double double_unit = 0x1p-53;
  const double all = 1 / (scene.wavelength * scene.wavelength);
  const double across =
      frequency(k, width) * frequency(k, width) + frequency(l, width) * frequency(l, width);
  const double along = std::sqrt(std::abs(all - across));
  const double turns = 2 * std::numbers::pi * std::abs(scene.distance);
  // Roundings of the difference, whose root is steep near zero. Then the roundings of the product.
  const double difference_error = 6 * double_unit * (all + across);
  const double along_error =
      std::min(std::sqrt(difference_error), difference_error / along) + double_unit * along;
  const double error = turns * along_error + 3 * double_unit * turns * along;
  if (across > all) return tabulated(std::exp(-turns * along), error, unit);
  return tabulated(std::polar(1.0, std::copysign(turns, scene.distance) * along), error, unit);
}

/// The factor of frequency k of an axis for a shift by `distance` pixels.
inline Estimate shift_ramp(double distance, int width, int k, double unit) {
  const double angle = -2 * std::numbers::pi * frequency(k, width) * distance;
  return tabulated(std::polar(1.0, angle), 4 * 0x1p-53 * std::abs(angle), unit);
}

/// Multiplies the frequencies of all frames of an array by factor(frame, k, l).
template <class Factor>
void filter(int width, double unit, BoundedArray& bounded, const Factor& factor) {
  const std::size_t frame = spec::to_size(width) * spec::to_size(width);
  for (std::size_t n = 0; n < bounded.values.size() / frame; ++n) {
    CancellationScope::check();
    const auto values = std::span(bounded.values).subspan(n * frame, frame);
    const auto errors = std::span(bounded.errors).subspan(n * frame, frame);
    double length = length_of(errors);
    transform(Direction::forward, width, unit, values, errors, length);
    double largest_factor = 0;
    double own_energy = 0;
    for (std::size_t i = 0; i < frame; ++i) {
      const Estimate by = factor(n, static_cast<int>(i) / width, static_cast<int>(i) % width);
      const Estimate before{.value = values[i], .error = errors[i]};
      const Estimate filtered = product(before, by, unit);
      // The product's own error, without the error of its input, which grows by the factor.
      const double own = filtered.error - before.error * std::abs(by.value);
      largest_factor = std::max(largest_factor, std::abs(by.value));
      own_energy += own * own;
      values[i] = filtered.value;
      errors[i] = filtered.error;
    }
    length = largest_factor * length + std::sqrt(own_energy);
    transform(Direction::inverse, width, unit, values, errors, length);
  }
}

}  // namespace rankcheck::reference
