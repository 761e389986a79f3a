#pragma once

#include <cstdint>
#include <type_traits>

#include "reference/spec/scene.hpp"

#include "gpu/device/complex.hpp"
#include "gpu/device/launch/launch_sums.hpp"
#include "gpu/ptycho/kernels/arrays.hpp"
#include "gpu/ptycho/kernels/window.hpp"
#include "gpu/ptycho/operator.hpp"
#include "gpu/ptycho/passes/batched_passes.hpp"

/// Sums the contributions of windows to the object pixels under them, as adjoint operators do.
/// Three pieces of code compute such sums. They give the same bits if all values are finite, but no
/// one of them is fast everywhere:
/// - Gather, below, is the simplest and needs no scratch memory. Every row of the object looks at
///   every position. The algorithms `gather` use it, and check the other two.
/// - BatchedPasses::backward() computes the product at each pixel of a window once, then adds the
///   windows one by one. On a processor it takes a fraction of the time of the others. On a GPU, a
///   launch for each window would take longer than the work.
/// - GatherStrips first marks the windows near each tile of the object, and a thread reads only
///   these. It is made for GPUs. On a processor it is several times as slow as BatchedPasses.
namespace rankcheck::gpu {

/// Each object pixel adds up the contributions of the windows that contain it, in the order of the
/// positions. So no two threads write the same address. A row of this kernel is a row of the
/// object. share(share.line(n, p), q) is the contribution of pixel (p, q) of position n's window
/// before its bilinear weights, 0 <= p, q < width.
template <class T, class Value, class Share>
struct Gather {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    std::int64_t count;
    std::int64_t line;
  };
  struct Term {
    std::int64_t first;
    std::int64_t end;
    std::int64_t col;
    /// The window's line at this row of the object, and the line above it. If a line is outside the
    /// window, its weights are 0.
    typename Share::Line line;
    typename Share::Line above;
    T w00;
    T w01;
    T w10;
    T w11;
  };

  Share share;
  const T* positions;
  std::int64_t count;
  Value* object;
  std::int64_t cols;
  std::int64_t width;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    return {.first = 0, .end = cols, .count = count, .line = r};
  }

  [[nodiscard]] RANKCHECK_HD Term term(const Row& row, std::int64_t n) const {
    const Window<T> window(positions + 2 * n);
    const std::int64_t p = row.line - window.row;
    // The bilinear weights make the window one pixel wider.
    const std::int64_t end = window.col + width + 1;
    const bool reaches = p >= 0 && p <= width;
    const bool has_line = p >= 0 && p < width;
    const bool has_above = p > 0 && p <= width;
    return {.first = window.col > row.first ? window.col : row.first,
            .end = !reaches        ? row.first
                   : end < row.end ? end
                                   : row.end,
            .col = window.col,
            .line = share.line(n, has_line ? p : 0),
            .above = share.line(n, has_above ? p - 1 : 0),
            .w00 = has_line ? window.w00 : 0,
            .w01 = has_line ? window.w01 : 0,
            .w10 = has_above ? window.w10 : 0,
            .w11 = has_above ? window.w11 : 0};
  }

  [[nodiscard]] RANKCHECK_HD Value& at(const Row& row, std::int64_t c) const {
    return object[row.line * cols + c];
  }

  RANKCHECK_HD Value operator()(const Row&, const Term& term, std::int64_t c) const {
    const std::int64_t q = c - term.col;
    return tap(term.line, q, term.w00) + tap(term.line, q - 1, term.w01) +
           tap(term.above, q, term.w10) + tap(term.above, q - 1, term.w11);
  }

  /// The contribution of one pixel of a window's line with this weight. A pixel without weight is
  /// not read.
  RANKCHECK_HD Value tap(const typename Share::Line& line, std::int64_t q, T weight) const {
    if (weight == 0 || q < 0 || q >= width) return {};
    return weight * share(line, q);
  }
};

/// Adds the contributions of all windows of a rank's positions to its object of one slice.
template <class T, class Value, class Share>
void add_windows(Cluster& cluster,
                 int rank,
                 const spec::Scene& scene,
                 const T* positions,
                 std::int64_t count,
                 const Share& share,
                 Value* object) {
  launch_sums(cluster,
              rank,
              scene.rows,
              Gather<T, Value, Share>{.share = share,
                                      .positions = positions,
                                      .count = count,
                                      .object = object,
                                      .cols = scene.cols,
                                      .width = scene.window});
}

/// Sets the output array of Windows to the sum of the contributions of all ranks' windows; see
/// gather_windows().
template <class T, class Windows>
void sum_windows(const OperatorRun& run) {
  using Value = std::conditional_t<spec::info(Windows::output).is_complex, Complex<T>, T>;
  for (const int rank : run.local()) {
    auto* const values = run.out<Value>(rank, Windows::output);
    fill(run.cluster(), rank, run.size(rank, Windows::output), values, Value{});
    add_windows(run.cluster(),
                rank,
                run.scene(),
                run.in<T>(rank, spec::Array::positions),
                run.positions(rank),
                Windows::template share<T>(run, rank),
                values);
  }
  run.sum_over_ranks(Windows::output);
}

/// Makes the algorithm `gather` of an operator whose only output is Windows::output, an array of
/// the object's pixels. Windows::share<T>(run, rank) gives the contributions of a rank's windows;
/// see Gather.
template <class Windows>
[[nodiscard]] Operator gather_windows() {
  return {.name = "gather",
          .summary = "One thread for each pixel of the object sums over the windows that cover it.",
          .run = [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() { sum_windows<T, Windows>(run); });
          }};
}

/// The light of all modes on a pixel of the window.
template <class T>
struct ProbeLight {
  const Complex<T>* probe;
  spec::Scene scene;

  using Line = const Complex<T>*;

  [[nodiscard]] RANKCHECK_HD Line line(std::int64_t n, std::int64_t p) const {
    const std::int64_t mode = scene.varying_probe ? n * scene.modes : 0;
    return probe + (mode * scene.window + p) * scene.window;
  }
  RANKCHECK_HD T operator()(Line line, std::int64_t q) const {
    T light = 0;
    for (std::int64_t m = 0; m < scene.modes; ++m) {
      light += norm(line[m * scene.window * scene.window + q]);
    }
    return light;
  }
};

/// conj(probe) times the waves, summed over all modes.
template <class T>
struct ConjugateTimesWaves {
  const Complex<T>* probe;
  const Complex<T>* waves;
  spec::Scene scene;

  struct Line {
    const Complex<T>* probe;
    const Complex<T>* waves;
  };

  [[nodiscard]] RANKCHECK_HD Line line(std::int64_t n, std::int64_t p) const {
    const std::int64_t mode = scene.varying_probe ? n * scene.modes : 0;
    const FrameLayout frames{.width = scene.detector, .margin = spec::margin(scene)};
    return {.probe = probe + (mode * scene.window + p) * scene.window,
            .waves = waves + frames.row(n * scene.modes, p)};
  }

  RANKCHECK_HD Complex<T> operator()(const Line& line, std::int64_t q) const {
    Complex<T> sum;
    for (std::int64_t m = 0; m < scene.modes; ++m) {
      sum += conj(line.probe[m * scene.window * scene.window + q]) *
             line.waves[m * scene.detector * scene.detector + q];
    }
    return sum;
  }
};

}  // namespace rankcheck::gpu
