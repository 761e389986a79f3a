#pragma once

#include <cmath>
#include <cstdint>

#include "gpu/device/element.hpp"

/// The costs of one pixel, for host and device.
namespace rankcheck::gpu {

/// What is minimised, summed over the measured pixels of all frames: I the modelled intensity, d
/// the measured one.
enum class Noise : std::uint8_t {
  /// (sqrt(I) - sqrt(d))^2.
  gaussian,
  /// I + e - d - d log((I + e) / d), with e = poisson_floor.
  poisson,
  /// As gaussian, but instead of the gradient the waves themselves are wanted, given the measured
  /// amplitudes.
  projected,
};

inline constexpr double poisson_floor = 1e-9;

/// The cost of one pixel, and what the waves there are multiplied with to be its gradient.
template <class T>
struct Pixel {
  T factor = 0;
  T cost = 0;
};

template <class T>
RANKCHECK_HD inline Pixel<T> gaussian_pixel(T intensity, T measured) {
  const T amplitude = std::sqrt(intensity);
  const T residual = amplitude - std::sqrt(measured);
  return {.factor = intensity > 0 ? residual / amplitude : T{0}, .cost = residual * residual};
}

template <class T>
RANKCHECK_HD inline Pixel<T> poisson_pixel(T intensity, T measured) {
  const T raised = intensity + static_cast<T>(poisson_floor);
  const T entropy = measured > 0 ? measured * std::log(raised / measured) : T{0};
  return {.factor = 1 - measured / raised, .cost = (raised - measured) - entropy};
}

template <class T>
RANKCHECK_HD inline Pixel<T> projected_pixel(T intensity, T measured) {
  Pixel<T> pixel = gaussian_pixel(intensity, measured);
  pixel.factor = intensity > 0 ? std::sqrt(measured) / std::sqrt(intensity) : T{0};
  return pixel;
}

template <Noise noise, class T>
RANKCHECK_HD inline Pixel<T> compare_pixel(T intensity, T measured) {
  switch (noise) {
    case Noise::gaussian:
      return gaussian_pixel(intensity, measured);
    case Noise::poisson:
      return poisson_pixel(intensity, measured);
    case Noise::projected:
      return projected_pixel(intensity, measured);
  }
  return {};
}

/// A pixel where nothing is measured.
template <Noise noise, class T>
RANKCHECK_HD inline Pixel<T> unmeasured_pixel() {
  return {.factor = noise == Noise::projected ? T{1} : T{0}, .cost = 0};
}

}  // namespace rankcheck::gpu
