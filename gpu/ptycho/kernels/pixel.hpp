#pragma once

#include <cmath>
#include <cstdint>

#include "gpu/device/element.hpp"

/// The cost of one pixel, for host and device.
namespace rankcheck::gpu {

/// The cost of a measured pixel; the sum over the measured pixels of all frames is minimised. I is
/// the modelled intensity, d the measured one.
enum class Noise : std::uint8_t {
  /// (sqrt(I) - sqrt(d))^2.
  gaussian,
  /// I + e - d - d log((I + e) / d), with e = poisson_floor.
  poisson,
  /// The same cost as gaussian. Instead of the gradient, the result is the waves themselves with
  /// the measured amplitudes.
  projected,
};

/// Calls visit.operator()<noise>(), so that the noise is known at compile time.
template <class Visit>
void with_noise(Noise noise, const Visit& visit) {
  switch (noise) {
    case Noise::gaussian:
      visit.template operator()<Noise::gaussian>();
      break;
    case Noise::poisson:
      visit.template operator()<Noise::poisson>();
      break;
    case Noise::projected:
      visit.template operator()<Noise::projected>();
      break;
  }
}

inline constexpr double poisson_floor = 1e-9;

/// The cost of one pixel, and the factor that turns the waves there into its gradient.
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

RANKCHECK_HD inline double logarithm(double x) {
  return std::log(x);
}

/// Returns the natural logarithm of a normal number above 0. It has no branch and no call, so that
/// loops over pixels vectorise. The error is at most 2 + |log x| unit roundoffs. Let x = 2^k m,
/// with m between sqrt(1/2) and sqrt(2). Then log m = 2 artanh s with s = (m - 1) / (m + 1) and
/// |log m| < 0.35:
/// - s is rounded twice.
/// - The series is cut off after four terms, which costs less than a twentieth of a rounding. Its
///   sum is rounded once.
/// - k times the leading part of log 2 is exact. Two sums remain.
RANKCHECK_HD inline float logarithm(float x) {
  constexpr std::int32_t root_of_half = 0x3f3504f3;
  constexpr int mantissa_bits = 23;
  constexpr float log2_leading = 0x1.63p-1F;
  constexpr float log2_rest = -0x1.bd0106p-13F;
  const auto bits = element::bits_as<std::int32_t>(x);
  const std::int32_t power = (bits - root_of_half) >> mantissa_bits;
  const auto m = element::bits_as<float>(bits - (power << mantissa_bits));
  const float s = (m - 1) / (m + 1);
  const float z = s * s;
  const float series = z * (1.0F / 3 + z * (1.0F / 5 + z * (1.0F / 7 + z * (1.0F / 9))));
  const auto k = static_cast<float>(power);
  return k * log2_leading + ((2 * s + 2 * s * series) + k * log2_rest);
}

template <class T>
RANKCHECK_HD inline Pixel<T> poisson_pixel(T intensity, T measured) {
  const T raised = intensity + static_cast<T>(poisson_floor);
  const T entropy = measured > 0 ? measured * logarithm(raised / measured) : T{0};
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

/// The result for a pixel that is not measured.
template <Noise noise, class T>
RANKCHECK_HD inline Pixel<T> unmeasured_pixel() {
  return {.factor = noise == Noise::projected ? T{1} : T{0}, .cost = 0};
}

}  // namespace rankcheck::gpu
