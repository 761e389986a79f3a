#pragma once

#include <cmath>
#include <cstdint>

#include "reference/spec/scene.hpp"

#include "gpu/device/complex.hpp"

namespace rankcheck::gpu {

/// The window of one position: where it lies on the object, and its bilinear weights.
template <class T>
struct Window {
  std::int64_t row;
  std::int64_t col;
  T w00;
  T w01;
  T w10;
  T w11;

  RANKCHECK_HD Window(const T* corner) {
    const T row_floor = std::floor(corner[0]);
    const T col_floor = std::floor(corner[1]);
    const T f = corner[0] - row_floor;
    const T g = corner[1] - col_floor;
    row = static_cast<std::int64_t>(row_floor);
    col = static_cast<std::int64_t>(col_floor);
    w00 = (1 - f) * (1 - g);
    w01 = (1 - f) * g;
    w10 = f * (1 - g);
    w11 = f * g;
  }
};

/// One slice of an object.
template <class T>
struct ObjectView {
  const Complex<T>* values;
  std::int64_t rows;
  std::int64_t cols;

  /// weight * pixel, nothing where there is no pixel or no weight: 0 times what lies beyond the
  /// object's edge need not be 0.
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
