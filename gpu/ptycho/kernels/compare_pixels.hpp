#pragma once

#include <cstdint>

#include "gpu/device/complex.hpp"
#include "gpu/ptycho/kernels/pixel.hpp"

/// Compares frames with waves in one pass over the waves, and adds up the costs.
namespace rankcheck::gpu {

/// A chunk has pixels_of_thread pixels for each of its threads_of_chunk threads. Neighbouring
/// threads read neighbouring pixels. A thread reads pixels_ahead pixels before it writes any.
inline constexpr std::int32_t pixels_of_thread = 32;
inline constexpr std::int32_t threads_of_chunk = 32;
inline constexpr std::int32_t chunk_pixels = pixels_of_thread * threads_of_chunk;
inline constexpr std::int32_t pixels_ahead = 4;

/// Computes a thread's share of a chunk of a frame: intensity, cost and far-plane gradient of its
/// pixels.
template <class T, class Number, Noise noise>
struct ComparePixels {
  const Number* waves;
  Number* gradient;
  const T* frames;
  /// Null if every pixel is measured.
  const T* mask;
  double* costs;
  std::int32_t modes;
  std::int32_t frame;
  std::int32_t chunks_of_frame;
  T scale;
  T factor_scale;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t chunk = i / threads_of_chunk;
    const std::int64_t n = chunk / chunks_of_frame;
    const auto first =
        static_cast<std::int32_t>(chunk % chunks_of_frame * chunk_pixels + i % threads_of_chunk);
    const std::int32_t end = frame - first < chunk_pixels ? frame : first + chunk_pixels;
    double cost = 0;
    for (std::int32_t pixel = first; pixel < end; pixel += pixels_ahead * threads_of_chunk) {
      if (pixel < frame - (pixels_ahead - 1) * threads_of_chunk) {
        compare<true>(n, pixel, cost);
      } else {
        compare<false>(n, pixel, cost);
      }
    }
    costs[i] = cost;
  }

  /// Writes the gradient of all modes at pixels_ahead pixels, and adds their cost. With `is_whole`,
  /// all these pixels are in the frame.
  template <bool is_whole>
  RANKCHECK_HD void compare(std::int64_t n, std::int32_t pixel, double& cost) const {
    const Number* const wave = waves + n * modes * frame + pixel;
    Number* const out = gradient + n * modes * frame + pixel;
    const T* const seen = frames + n * frame + pixel;
    const auto exists = [&](std::int32_t at) { return is_whole || pixel + at < frame; };
    Number first_mode[pixels_ahead];
    T measured[pixels_ahead] = {};
    bool is_measured[pixels_ahead] = {};
    T intensity[pixels_ahead] = {};
    T factor[pixels_ahead] = {};
    RANKCHECK_UNROLLED
    for (std::int32_t k = 0; k < pixels_ahead; ++k) {
      const std::int32_t at = k * threads_of_chunk;
      if (!exists(at)) continue;
      first_mode[k] = wave[at];
      measured[k] = seen[at];
      is_measured[k] = mask == nullptr || mask[pixel + at] != 0;
    }
    RANKCHECK_UNROLLED
    for (std::int32_t k = 0; k < pixels_ahead; ++k) {
      if (exists(k * threads_of_chunk)) intensity[k] = norm<T>(scale * first_mode[k]);
    }
    for (std::int32_t m = 1; m < modes; ++m) {
      const Number* const of_mode = wave + std::int64_t{m} * frame;
      RANKCHECK_UNROLLED
      for (std::int32_t k = 0; k < pixels_ahead; ++k) {
        const std::int32_t at = k * threads_of_chunk;
        if (exists(at)) intensity[k] += norm<T>(scale * Number{of_mode[at]});
      }
    }
    RANKCHECK_UNROLLED
    for (std::int32_t k = 0; k < pixels_ahead; ++k) {
      const std::int32_t at = k * threads_of_chunk;
      if (!exists(at)) continue;
      const Pixel<T> result = is_measured[k] ? compare_pixel<noise>(intensity[k], measured[k])
                                             : unmeasured_pixel<noise, T>();
      cost += static_cast<double>(result.cost);
      factor[k] = result.factor * factor_scale;
      out[at] = {factor[k] * first_mode[k]};
    }
    for (std::int32_t m = 1; m < modes; ++m) {
      const Number* const of_mode = wave + std::int64_t{m} * frame;
      RANKCHECK_UNROLLED
      for (std::int32_t k = 0; k < pixels_ahead; ++k) {
        const std::int32_t at = k * threads_of_chunk;
        if (exists(at)) (out + std::int64_t{m} * frame)[at] = {factor[k] * Number{of_mode[at]}};
      }
    }
  }
};

/// The number of values that one thread sums.
inline constexpr std::int64_t sums_of_thread = 64;

/// The number of values that one thread reads before it adds any. Otherwise, each addition would
/// wait for its own value.
inline constexpr std::int64_t sums_ahead = 8;

/// Computes as many sums as there are threads, each in order. Neighbouring threads read
/// neighbouring values.
struct SumApart {
  const double* values;
  double* sums;
  std::int64_t count;
  std::int64_t threads;

  RANKCHECK_HD void operator()(std::int64_t t) const {
    double sum = 0;
    for (std::int64_t first = t; first < count; first += sums_ahead * threads) {
      double read[sums_ahead];
      RANKCHECK_UNROLLED
      for (std::int64_t k = 0; k < sums_ahead; ++k) {
        const std::int64_t i = first + k * threads;
        read[k] = i < count ? values[i] : 0;
      }
      RANKCHECK_UNROLLED
      // NOLINTNEXTLINE(modernize-loop-convert): only a plain loop is unrolled.
      for (std::int64_t k = 0; k < sums_ahead; ++k) sum += read[k];
    }
    sums[t] = sum;
  }
};

}  // namespace rankcheck::gpu
