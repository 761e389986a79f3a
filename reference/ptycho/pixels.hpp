#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <span>

#include "reference/ptycho/bounded_array.hpp"
#include "reference/ptycho/cancellation.hpp"
#include "reference/spec/to_size.hpp"

/// What the references of costs share: a pixel's modes as one vector, and the sum over all pixels.
namespace rankcheck::reference {

/// The waves of all modes at one pixel of one frame.
struct PixelWaves {
  /// Euclidean length of the vector of the modes' waves. Its square is the intensity.
  double amplitude = 0;
  /// Bounds the distance of any implementation's vector from this one.
  double error = 0;
};

/// Calls body(pixel, i, waves, wave): `pixel` counts in all frames, `i` in its frame, and wave(m)
/// is the index of mode m's value in far_waves.
template <class Body>
void for_each_pixel(const OperatorArrays& arrays, const Body& body) {
  const BoundedArray& waves = arrays[spec::Array::far_waves];
  const auto frame = spec::to_size(spec::values(arrays.scene, spec::Array::frames));
  const auto modes = spec::to_size(arrays.scene.modes);
  for (std::size_t n = 0; n < spec::to_size(arrays.positions); ++n) {
    CancellationScope::check();
    for (std::size_t i = 0; i < frame; ++i) {
      const auto wave = [&](std::size_t m) { return (n * modes + m) * frame + i; };
      PixelWaves pixel;
      for (std::size_t m = 0; m < modes; ++m) {
        pixel.amplitude = std::hypot(pixel.amplitude, std::abs(waves.values[wave(m)]));
        pixel.error = std::hypot(pixel.error, waves.errors[wave(m)]);
      }
      body(n * frame + i, i, pixel, wave);
    }
  }
}

/// Roundings of an intensity: two squares, their sum, and the sum over the modes.
inline double intensity_roundings(const OperatorArrays& arrays) {
  return 2 + static_cast<double>(arrays.scene.modes);
}

/// Adds the cost of one of `pixels` pixels to the total. `error` bounds the error of this cost.
inline void add_cost(
    double cost, double error, double unit, BoundedArray& total, std::size_t pixels) {
  total.values[0] += cost;
  // A sum in any order rounds each term at most once for every other term, and the total once more.
  total.errors[0] += error + (cost + error) * unit * (static_cast<double>(pixels) + 1);
}

}  // namespace rankcheck::reference
