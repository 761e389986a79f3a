#pragma once

#include <bit>
#include <cstdint>

#include "reference/spec/scene.hpp"

#include "gpu/device/complex.hpp"
#include "gpu/ptycho/kernels/strips.hpp"

/// The version of Gather for devices. It works on strips of the object and reads only the positions
/// near a strip, which are marked first.
namespace rankcheck::gpu {

/// The height of the tiles for which positions are marked: several whole strips.
inline constexpr std::int32_t tile_rows = 4 * strip_rows;
/// The number of positions in a mark.
inline constexpr std::int32_t mark_bits = 32;

/// Returns the index of the lowest bit that is set.
RANKCHECK_HD inline std::int32_t lowest_bit(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __ffs(static_cast<int>(bits)) - 1;
#else
  return std::countr_zero(bits);
#endif
}

/// The object cut into tiles, strips.across() tiles in each row.
struct ObjectTiles {
  Strips strips;

  [[nodiscard]] RANKCHECK_HD std::int64_t count() const {
    return (std::int64_t{strips.rows} + tile_rows - 1) / tile_rows * strips.across();
  }
  [[nodiscard]] RANKCHECK_HD std::int64_t tile(const Strips::Strip& strip) const {
    return strip.row / tile_rows * strips.across() + strip.col / strip_cols;
  }
};

/// Computes one mark of one tile: a bit for each of mark_bits positions. The bit is set if the
/// position's window, with one more row below and one more column to the right, reaches the tile.
template <class T>
struct MarkNear {
  const PlacedWindow<T>* windows;
  std::int64_t count;
  std::int32_t width;
  ObjectTiles tiling;
  /// Shape [marks, tiles].
  std::uint32_t* near;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t tiles = tiling.count();
    const std::int64_t across = tiling.strips.across();
    const std::int64_t first = i / tiles * mark_bits;
    const std::int64_t tile = i % tiles;
    const auto row = static_cast<std::int32_t>(tile / across) * tile_rows;
    const auto col = static_cast<std::int32_t>(tile % across) * strip_cols;
    const std::int64_t end = first + mark_bits < count ? first + mark_bits : count;
    std::uint32_t mark = 0;
    for (std::int64_t n = first; n < end; ++n) {
      const PlacedWindow<T>& window = windows[n];
      const bool reaches = window.row < row + tile_rows && window.row + width >= row &&
                           window.col < col + strip_cols && window.col + width >= col;
      if (reaches) mark |= std::uint32_t{1} << (n - first);
    }
    near[i] = mark;
  }
};

/// The contribution of one mode to the object: conj(probe) times the waves. For Number see
/// with_alignment().
template <class T, class Number>
struct ConjugateTimesWaveColumn {
  struct Place {
    const Number* probe;
    const Number* wave;
  };

  const Number* probe;
  const Number* waves;
  /// The number of values from one position to the next.
  std::int64_t probe_step;
  std::int64_t wave_step;
  std::int32_t modes;
  std::int32_t width;
  std::int32_t detector;
  std::int32_t margin;

  ConjugateTimesWaveColumn(const spec::Scene& scene,
                           const Complex<T>* of_probe,
                           const Complex<T>* back)
      : probe(reinterpret_cast<const Number*>(of_probe)),
        waves(reinterpret_cast<const Number*>(back)),
        probe_step(gpu::probe_step(scene)),
        wave_step(std::int64_t{scene.modes} * scene.detector * scene.detector),
        modes(scene.modes),
        width(scene.window),
        detector(scene.detector),
        margin(spec::margin(scene)) {}

  /// Pixel (p, q) of position n's window, in mode 0.
  [[nodiscard]] RANKCHECK_HD Place place(std::int32_t n, std::int32_t p, std::int32_t q) const {
    return {.probe = probe + n * probe_step + (p * width + q),
            .wave = waves + n * wave_step + ((margin + p) * detector + margin + q)};
  }
  [[nodiscard]] RANKCHECK_HD Place next_mode(const Place& place) const {
    return {.probe = place.probe + width * width, .wave = place.wave + detector * detector};
  }
  /// The contribution of the pixel `down` rows below a place and `right` columns to its right.
  [[nodiscard]] RANKCHECK_HD Complex<T> at(const Place& place,
                                           std::int32_t down,
                                           std::int32_t right) const {
    const Number light = (place.probe + down * width)[right];
    const Number wave = (place.wave + down * detector)[right];
    return conj<T>(light) * wave;
  }
};

/// The contribution of one mode to the weights of the object's pixels: the probe's light.
template <class T, class Number>
struct ProbeLightColumn {
  using Place = const Number*;

  const Number* probe;
  /// The number of values from one position's probe to the next; 0 if they share a probe.
  std::int64_t probe_step;
  std::int32_t modes;
  std::int32_t width;

  ProbeLightColumn(const spec::Scene& scene, const Complex<T>* of_probe)
      : probe(reinterpret_cast<const Number*>(of_probe)),
        probe_step(gpu::probe_step(scene)),
        modes(scene.modes),
        width(scene.window) {}

  [[nodiscard]] RANKCHECK_HD Place place(std::int32_t n, std::int32_t p, std::int32_t q) const {
    return probe + n * probe_step + (p * width + q);
  }
  [[nodiscard]] RANKCHECK_HD Place next_mode(Place place) const { return place + width * width; }
  [[nodiscard]] RANKCHECK_HD T at(Place place, std::int32_t down, std::int32_t right) const {
    const Number light = (place + down * width)[right];
    return norm<T>(light);
  }
};

/// Sums as Gather does. A row of this kernel is a strip of the object, and each thread processes a
/// column of strip_rows pixels. The contribution of a window's pixel is computed once for the two
/// object pixels, one below the other, that it touches.
template <class T, class Value, class Share>
struct GatherStrips {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    std::int32_t line;
    const std::uint32_t* near;
  };

  Share share;
  const PlacedWindow<T>* windows;
  std::int32_t marks;
  ObjectTiles tiling;
  /// Shape [marks, tiles].
  const std::uint32_t* near;
  Value* object;
  std::int32_t width;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const Strips::Strip strip = tiling.strips.strip(r);
    return {.first = strip.col,
            .end = tiling.strips.end_col(strip),
            .line = strip.row,
            .near = near + tiling.tile(strip)};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t column) const {
    const auto c = static_cast<std::int32_t>(column);
    const std::int32_t cols = tiling.strips.cols;
    const std::int32_t lines = tiling.strips.rows - row.line;
    Value* const out = object + (std::int64_t{row.line} * cols + c);
    Value sums[strip_rows]{};
    RANKCHECK_UNROLLED
    for (std::int32_t k = 0; k < strip_rows; ++k) {
      if (k < lines) sums[k] = out[std::int64_t{k} * cols];
    }
    const std::int64_t tiles = tiling.count();
    for (std::int32_t mark = 0; mark < marks; ++mark) {
      for (std::uint32_t bits = row.near[mark * tiles]; bits != 0; bits &= bits - 1) {
        add_position(mark * mark_bits + lowest_bit(bits), row.line, c, sums);
      }
    }
    RANKCHECK_UNROLLED
    for (std::int32_t k = 0; k < strip_rows; ++k) {
      if (k < lines) out[std::int64_t{k} * cols] = sums[k];
    }
  }

 private:
  /// The contributions of a column of a window before its weights: the row above the strip's first
  /// row, then the strip's rows.
  using Products = Value[strip_rows + 1];

  RANKCHECK_HD void add_position(std::int32_t n,
                                 std::int32_t line,
                                 std::int32_t c,
                                 Value (&sums)[strip_rows]) const {
    const PlacedWindow<T> window = windows[n];
    const std::int32_t p = line - window.row;
    const std::int32_t q = c - window.col;
    if (p <= -strip_rows || p > width || q < 0 || q > width) return;
    auto place = share.place(n, p - 1, q);
    if (window.weighs_all != 0 && p > 0 && p + strip_rows <= width) {
      add<true>(window.weights, place, p, q, sums);
    } else {
      add<false>(window.weights, place, p, q, sums);
    }
  }

  /// With `is_whole`, no weight is 0 and all rows are in the window.
  template <bool is_whole>
  RANKCHECK_HD void add(const BilinearWeights<T>& w,
                        typename Share::Place place,
                        std::int32_t p,
                        std::int32_t q,
                        Value (&sums)[strip_rows]) const {
    Products here{};
    Products left{};
    add_mode<is_whole, true>(w, place, p, q, here, left);
    for (std::int32_t m = 1; m < share.modes; ++m) {
      place = share.next_mode(place);
      add_mode<is_whole, false>(w, place, p, q, here, left);
    }
    RANKCHECK_UNROLLED
    for (std::int32_t k = 0; k < strip_rows; ++k) {
      sums[k] += tap<is_whole>(w.w00, here[k + 1]) + tap<is_whole>(w.w01, left[k + 1]) +
                 tap<is_whole>(w.w10, here[k]) + tap<is_whole>(w.w11, left[k]);
    }
  }

  /// Adds the contribution of one mode to `here`, the window's column over the thread's pixels, and
  /// to `left`, the column to its left.
  template <bool is_whole, bool is_first>
  RANKCHECK_HD void add_mode(const BilinearWeights<T>& w,
                             const typename Share::Place& place,
                             std::int32_t p,
                             std::int32_t q,
                             Products& here,
                             Products& left) const {
    if (q < width) {
      RANKCHECK_UNROLLED
      for (std::int32_t k = 0; k <= strip_rows; ++k) {
        if (!is_whole && !counts(p, k, w.w00, w.w10)) continue;
        here[k] = is_first ? share.at(place, k, 0) : here[k] + share.at(place, k, 0);
      }
    }
    if (q > 0) {
      RANKCHECK_UNROLLED
      for (std::int32_t k = 0; k <= strip_rows; ++k) {
        if (!is_whole && !counts(p, k, w.w01, w.w11)) continue;
        left[k] = is_first ? share.at(place, k, -1) : left[k] + share.at(place, k, -1);
      }
    }
  }

  /// Whether a product is inside the window and has a weight for the pixel under it or for the
  /// pixel below.
  [[nodiscard]] RANKCHECK_HD bool counts(std::int32_t p,
                                         std::int32_t k,
                                         T weight,
                                         T weight_below) const {
    const bool is_inside = p + k > 0 && p + k <= width;
    return is_inside && ((k > 0 && weight != 0) || (k < strip_rows && weight_below != 0));
  }

  /// A product without weight is not added, because 0 times its value need not be 0.
  template <bool is_whole>
  static RANKCHECK_HD Value tap(T weight, const Value& value) {
    return is_whole || weight != 0 ? weight * value : Value{};
  }
};

}  // namespace rankcheck::gpu
