#include "gpu/ptycho/operator.hpp"
#include "gpu/ptycho/window.hpp"

namespace rankcheck::gpu::object_preconditioner {

namespace {

/// A pixel of the object: the sum over all windows that it lies in.
template <class T>
struct Gather {
  const Complex<T>* probe;
  const T* positions;
  T* weight;
  std::int64_t count;
  std::int64_t cols;
  std::int64_t width;
  std::int64_t modes;
  bool varying_probe;

  RANKCHECK_HD T tap(std::int64_t n, std::int64_t p, std::int64_t q, T w) const {
    if (w == 0 || p < 0 || p >= width || q < 0 || q >= width) return 0;
    T light = 0;
    const std::int64_t first = varying_probe ? n * modes : 0;
    for (std::int64_t m = 0; m < modes; ++m) {
      light += norm(probe[((first + m) * width + p) * width + q]);
    }
    return w * light;
  }

  RANKCHECK_HD void operator()(std::int64_t i) const {
    T sum = 0;
    for (std::int64_t n = 0; n < count; ++n) {
      const Window<T> at(positions + 2 * n);
      const std::int64_t p = i / cols - at.row;
      const std::int64_t q = i % cols - at.col;
      if (p < 0 || p > width || q < 0 || q > width) continue;
      sum += tap(n, p, q, at.w00) + tap(n, p, q - 1, at.w01) + tap(n, p - 1, q, at.w10) +
             tap(n, p - 1, q - 1, at.w11);
    }
    weight[i] = sum;
  }
};

}  // namespace

Operator gather() {
  return {
      .name = "gather",
      .summary = "A thread for each pixel of the object sums over the windows that cover it.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() {
              for (const int rank : run.local()) {
                launch(run.cluster(),
                       rank,
                       run.size(rank, spec::Array::object_weight),
                       Gather<T>{.probe = run.in<Complex<T>>(rank, spec::Array::probe),
                                 .positions = run.in<T>(rank, spec::Array::positions),
                                 .weight = run.out<T>(rank, spec::Array::object_weight),
                                 .count = run.positions(rank),
                                 .cols = run.scene().cols,
                                 .width = run.scene().window,
                                 .modes = run.scene().modes,
                                 .varying_probe = run.scene().varying_probe});
              }
            });
            run.sum_over_ranks(spec::Array::object_weight);
          },
  };
}

}  // namespace rankcheck::gpu::object_preconditioner
