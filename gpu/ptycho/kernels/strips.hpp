#pragma once

#include <cmath>
#include <cstdint>

#include "reference/spec/scene.hpp"

#include "gpu/device/complex.hpp"
#include "gpu/ptycho/kernels/window.hpp"

/// Shared by kernels whose threads process a column of a few rows. The data of a position, and the
/// values read for one row, serve the other rows too.
namespace rankcheck::gpu {

/// Rows of a strip, and its columns, which neighbouring threads process.
inline constexpr std::int32_t strip_rows = 4;
inline constexpr std::int32_t strip_cols = 128;

/// Returns the number of values from one position's probe to the next; 0 if they share a probe.
[[nodiscard]] inline std::int64_t probe_step(const spec::Scene& scene) {
  return scene.varying_probe ? std::int64_t{scene.modes} * scene.window * scene.window : 0;
}

/// Consecutive arrays of one size, cut into strips. The last strips of an array may extend beyond
/// its edges.
struct Strips {
  std::int32_t rows = 0;
  std::int32_t cols = 0;

  struct Strip {
    std::int64_t array;
    std::int32_t row;
    std::int32_t col;
  };

  [[nodiscard]] RANKCHECK_HD std::int64_t across() const {
    return (std::int64_t{cols} + strip_cols - 1) / strip_cols;
  }
  [[nodiscard]] RANKCHECK_HD std::int64_t down() const {
    return (std::int64_t{rows} + strip_rows - 1) / strip_rows;
  }
  /// The number of strips of one array.
  [[nodiscard]] RANKCHECK_HD std::int64_t count() const { return down() * across(); }
  [[nodiscard]] RANKCHECK_HD Strip strip(std::int64_t s) const {
    const std::int64_t line = s / across();
    return {.array = line / down(),
            .row = static_cast<std::int32_t>(line % down()) * strip_rows,
            .col = static_cast<std::int32_t>(s % across()) * strip_cols};
  }
  [[nodiscard]] RANKCHECK_HD std::int32_t end_col(const Strip& strip) const {
    return cols - strip.col < strip_cols ? cols : strip.col + strip_cols;
  }
};

/// The window of one position in the form that kernels over many positions read. row and col are
/// limited to ±2^30, and are -2^30 for NaN. Such a window is outside every object.
template <class T>
struct alignas(16) PlacedWindow {
  std::int32_t row;
  std::int32_t col;
  BilinearWeights<T> weights;
  /// 1 if no weight is 0, else 0. It is a number so that one access reads it together with the
  /// weights.
  std::int32_t weighs_all;

  RANKCHECK_HD PlacedWindow(const T* corner)
      : row(place(corner[0])),
        col(place(corner[1])),
        weights(corner),
        weighs_all(weights.all() ? 1 : 0) {}

 private:
  static RANKCHECK_HD std::int32_t place(T coordinate) {
    constexpr std::int32_t limit = 1 << 30;
    if (!(coordinate > static_cast<T>(-limit))) return -limit;
    return coordinate < static_cast<T>(limit) ? static_cast<std::int32_t>(std::floor(coordinate))
                                              : limit;
  }
};

/// Writes the windows of positions.
template <class T>
struct PlaceWindows {
  const T* positions;
  PlacedWindow<T>* windows;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    windows[i] = PlacedWindow<T>(positions + 2 * i);
  }
};

/// One slice of an object. For Number see with_alignment().
template <class T, class Number>
struct ObjectColumns {
  const Number* values;
  std::int32_t rows;
  std::int32_t cols;

  /// Writes the object at pixels (p, q) to (p + lines - 1, q) of a window, as ObjectView::at()
  /// does. A row of the object is read once for the two rows of the window that need it.
  template <std::int32_t lines>
  RANKCHECK_HD void read(PlacedWindow<T> window,
                         std::int32_t p,
                         std::int32_t q,
                         Complex<T> (&patch)[lines]) const {
    const BilinearWeights<T>& w = window.weights;
    const std::int32_t row = window.row + p;
    const std::int32_t col = window.col + q;
    const bool is_inside = row >= 0 && row < rows - lines && col >= 0 && col < cols - 1;
    if (is_inside && window.weighs_all != 0) {
      const Number* line = values + (std::int64_t{row} * cols + col);
      Number left = line[0];
      Number right = line[1];
      RANKCHECK_UNROLLED
      for (std::int32_t k = 0; k < lines; ++k) {
        line += cols;
        const Number left_below = line[0];
        const Number right_below = line[1];
        patch[k] = w.w00 * left + w.w01 * right + w.w10 * left_below + w.w11 * right_below;
        left = left_below;
        right = right_below;
      }
    } else {
      RANKCHECK_UNROLLED
      for (std::int32_t k = 0; k < lines; ++k) {
        patch[k] = tap(row + k, col, w.w00) + tap(row + k, col + 1, w.w01) +
                   tap(row + k + 1, col, w.w10) + tap(row + k + 1, col + 1, w.w11);
      }
    }
  }

 private:
  /// See ObjectView::tap().
  RANKCHECK_HD Complex<T> tap(std::int32_t row, std::int32_t col, T weight) const {
    if (weight == 0 || row < 0 || row >= rows || col < 0 || col >= cols) return {};
    const Number value = values[std::int64_t{row} * cols + col];
    return weight * value;
  }
};

}  // namespace rankcheck::gpu
