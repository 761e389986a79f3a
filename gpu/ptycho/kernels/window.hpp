#pragma once

#include <cmath>
#include <cstdint>

#include "reference/spec/scene.hpp"

#include "gpu/device/complex.hpp"

namespace rankcheck::gpu {

/// The bilinear weights of four object pixels in a window's pixel that lies between them:
/// - w00: the nearest pixel above and to the left
/// - w01: the pixel to the right of w00's pixel
/// - w10: the pixel below w00's pixel
/// - w11: the pixel to the right of w10's pixel.
template <class T>
struct BilinearWeights {
  T w00;
  T w01;
  T w10;
  T w11;

  RANKCHECK_HD BilinearWeights(const T* corner) {
    const T f = corner[0] - std::floor(corner[0]);
    const T g = corner[1] - std::floor(corner[1]);
    w00 = (1 - f) * (1 - g);
    w01 = (1 - f) * g;
    w10 = f * (1 - g);
    w11 = f * g;
  }

  [[nodiscard]] RANKCHECK_HD bool all() const {
    return w00 != 0 && w01 != 0 && w10 != 0 && w11 != 0;
  }
};

/// The window of one position: its place on the object, and its bilinear weights.
template <class T>
struct Window : BilinearWeights<T> {
  std::int64_t row;
  std::int64_t col;

  RANKCHECK_HD Window(const T* corner)
      : BilinearWeights<T>(corner),
        row(static_cast<std::int64_t>(std::floor(corner[0]))),
        col(static_cast<std::int64_t>(std::floor(corner[1]))) {}
};

/// One pixel of one of consecutive frames, by its index in all of them.
struct FramePixel {
  std::int64_t frame;
  /// Its row and column in the window of the frame.
  std::int64_t p;
  std::int64_t q;
  bool is_in_window;

  RANKCHECK_HD FramePixel(const spec::Scene& scene, std::int64_t i)
      : frame(i / scene.detector / scene.detector),
        p(i / scene.detector % scene.detector - spec::margin(scene)),
        q(i % scene.detector - spec::margin(scene)),
        is_in_window(p >= 0 && p < scene.window && q >= 0 && q < scene.window) {}
};

/// One slice of an object.
template <class T>
struct ObjectView {
  const Complex<T>* values;
  std::int64_t rows;
  std::int64_t cols;

  /// `size` is the scene, or the box that a rank holds.
  template <class Size>
  ObjectView(const Size& size, const Complex<T>* of_slice)
      : values(of_slice), rows(size.rows), cols(size.cols) {}

  /// Returns weight * pixel, or 0 if there is no such pixel or no weight. A pixel without weight is
  /// not read, because 0 times its value need not be 0.
  RANKCHECK_HD Complex<T> tap(std::int64_t row, std::int64_t col, T weight) const {
    if (weight == 0 || row < 0 || row >= rows || col < 0 || col >= cols) return {};
    return weight * values[row * cols + col];
  }

  /// The object at pixel (p, q) of a window.
  RANKCHECK_HD Complex<T> at(const Window<T>& window, std::int64_t p, std::int64_t q) const {
    const std::int64_t row = window.row + p;
    const std::int64_t col = window.col + q;
    return tap(row, col, window.w00) + tap(row, col + 1, window.w01) +
           tap(row + 1, col, window.w10) + tap(row + 1, col + 1, window.w11);
  }
};

}  // namespace rankcheck::gpu
