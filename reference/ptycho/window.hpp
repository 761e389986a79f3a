#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>

#include "reference/ptycho/bounded_array.hpp"
#include "reference/ptycho/cancellation.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference {

/// The whole part (row, col) of a window's corner, and its bilinear weights. For the window's pixel
/// (p, q), weights[0…3] belong to the object pixels (row, col), (row, col+1), (row+1, col) and
/// (row+1, col+1), each plus (p, q).
struct Corner {
  std::int64_t row = 0;
  std::int64_t col = 0;
  std::array<double, 4> weights{};
};

/// The corner of a position's window.
inline Corner corner_of(const OperatorArrays& arrays, std::int64_t position) {
  const auto at = spec::to_size(2 * position);
  const double row = arrays[spec::Array::positions].values[at].real();
  const double col = arrays[spec::Array::positions].values[at + 1].real();
  const double f = row - std::floor(row);
  const double g = col - std::floor(col);
  return {.row = static_cast<std::int64_t>(std::floor(row)),
          .col = static_cast<std::int64_t>(std::floor(col)),
          .weights = {(1 - f) * (1 - g), (1 - f) * g, f * (1 - g), f * g}};
}

/// Calls body(pixel of the object's slice, weight) for every tap of the window's pixel (p, q). Taps
/// outside the object or with a weight of 0 are left out.
template <class Body>
void for_each_tap(const spec::Scene& scene, const Corner& corner, int p, int q, const Body& body) {
  for (std::size_t tap = 0; tap < 4; ++tap) {
    const std::int64_t row = corner.row + p + (tap >= 2 ? 1 : 0);
    const std::int64_t col = corner.col + q + (tap % 2 == 1 ? 1 : 0);
    if (corner.weights[tap] == 0 || row < 0 || row >= scene.rows || col < 0 || col >= scene.cols) {
      continue;
    }
    body(spec::to_size(row * scene.cols + col), corner.weights[tap]);
  }
}

/// For all taps of all pixels of the position's window, calls body(pixel of the frame, pixel of the
/// object's slice, weight).
template <class Body>
void for_each_tap(const OperatorArrays& arrays, std::int64_t position, const Body& body) {
  CancellationScope::check();
  const spec::Scene& scene = arrays.scene;
  const Corner corner = corner_of(arrays, position);
  const int margin = spec::margin(scene);
  const auto width = spec::to_size(scene.detector);
  for (int p = 0; p < scene.window; ++p) {
    for (int q = 0; q < scene.window; ++q) {
      const std::size_t pixel = spec::to_size(margin + p) * width + spec::to_size(margin + q);
      for_each_tap(scene, corner, p, q, [&](std::size_t target, double weight) {
        body(pixel, target, weight);
      });
    }
  }
}

/// Calls body(pixel of windows, pixel of patches) for every pixel of every position's window.
template <class Body>
void for_each_window_pixel(const OperatorArrays& arrays, const Body& body) {
  const auto window = spec::to_size(arrays.scene.window);
  const auto width = spec::to_size(arrays.scene.detector);
  const auto margin = spec::to_size(spec::margin(arrays.scene));
  for (std::size_t i = 0; i < arrays.size(spec::Array::windows); ++i) {
    const std::size_t n = i / (window * window);
    const std::size_t row = margin + i / window % window;
    body(i, (n * width + row) * width + margin + i % window);
  }
}

/// Indices of a window's pixel in the arrays, for one mode of one position.
struct LitPixel {
  std::size_t in_patches = 0;
  std::size_t in_probe = 0;
  std::size_t in_waves = 0;
  Corner corner;
  int p = 0;
  int q = 0;
};

/// Calls body(LitPixel) for every pixel of the window in every mode of every position.
template <class Body>
void for_each_lit_pixel(const OperatorArrays& arrays, const Body& body) {
  const spec::Scene& scene = arrays.scene;
  const int margin = spec::margin(scene);
  const int width = scene.detector;
  for (std::int64_t n = 0; n < arrays.positions; ++n) {
    const Corner corner = corner_of(arrays, n);
    for (int m = 0; m < scene.modes; ++m) {
      CancellationScope::check();
      const std::int64_t layer = n * scene.modes + m;
      const std::int64_t probe = scene.varying_probe ? layer : m;
      for (int p = 0; p < scene.window; ++p) {
        for (int q = 0; q < scene.window; ++q) {
          const int row = margin + p;
          const int col = margin + q;
          body(LitPixel{.in_patches = spec::to_size((n * width + row) * width + col),
                        .in_probe = spec::to_size((probe * scene.window + p) * scene.window + q),
                        .in_waves = spec::to_size((layer * width + row) * width + col),
                        .corner = corner,
                        .p = p,
                        .q = q});
        }
      }
    }
  }
}

/// Roundings of one term in the interpolation. The weight's factors have two and their product has
/// one. The product with the pixel has one, and the sum has three.
inline constexpr double tap_roundings = 7;

}  // namespace rankcheck::reference
