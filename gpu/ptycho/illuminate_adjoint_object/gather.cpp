#include "gpu/ptycho/operator.hpp"
#include "gpu/ptycho/window.hpp"

namespace rankcheck::gpu::illuminate_adjoint_object {

namespace {

/// A pixel of the object: the sum over all windows that it lies in. No two threads write the same
/// place, so that the result does not depend on their order.
template <class T>
struct Gather {
  const Complex<T>* waves;
  const Complex<T>* probe;
  const T* positions;
  Complex<T>* object;
  std::int64_t count;
  std::int64_t cols;
  std::int64_t modes;
  std::int64_t detector;
  std::int64_t window;
  std::int64_t margin;
  bool varying_probe;

  /// What pixel (p, q) of the window of position n gives with this weight.
  RANKCHECK_HD Complex<T> tap(std::int64_t n, std::int64_t p, std::int64_t q, T weight) const {
    if (weight == 0 || p < 0 || p >= window || q < 0 || q >= window) return {};
    Complex<T> sum;
    for (std::int64_t m = 0; m < modes; ++m) {
      const std::int64_t layer = n * modes + m;
      const std::int64_t mode = varying_probe ? layer : m;
      sum += conj(probe[(mode * window + p) * window + q]) *
             waves[(layer * detector + margin + p) * detector + margin + q];
    }
    return weight * sum;
  }

  RANKCHECK_HD void operator()(std::int64_t i) const {
    Complex<T> sum;
    for (std::int64_t n = 0; n < count; ++n) {
      const Window<T> at(positions + 2 * n);
      const std::int64_t p = i / cols - at.row;
      const std::int64_t q = i % cols - at.col;
      if (p < 0 || p > window || q < 0 || q > window) continue;
      sum += tap(n, p, q, at.w00) + tap(n, p, q - 1, at.w01) + tap(n, p - 1, q, at.w10) +
             tap(n, p - 1, q - 1, at.w11);
    }
    object[i] = sum;
  }
};

template <class T>
void run_typed(const OperatorRun& run) {
  const spec::Scene& scene = run.scene();
  for (const int rank : run.local()) {
    launch(run.cluster(),
           rank,
           run.size(rank, spec::Array::object),
           Gather<T>{.waves = run.in<Complex<T>>(rank, spec::Array::waves),
                     .probe = run.in<Complex<T>>(rank, spec::Array::probe),
                     .positions = run.in<T>(rank, spec::Array::positions),
                     .object = run.out<Complex<T>>(rank, spec::Array::object),
                     .count = run.positions(rank),
                     .cols = scene.cols,
                     .modes = scene.modes,
                     .detector = scene.detector,
                     .window = scene.window,
                     .margin = spec::margin(scene),
                     .varying_probe = scene.varying_probe});
  }
  run.sum_over_ranks(spec::Array::object);
}

}  // namespace

Operator gather() {
  return {
      .name = "gather",
      .summary = "A thread for each pixel of the object sums over the windows that cover it.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() { run_typed<T>(run); });
          },
  };
}

}  // namespace rankcheck::gpu::illuminate_adjoint_object
