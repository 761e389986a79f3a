#include "gpu/ptycho/operator.hpp"
#include "gpu/ptycho/window.hpp"

namespace rankcheck::gpu::insert {

namespace {

/// A pixel of the object: the sum over all windows that it lies in. No two threads write the same
/// place, so that the result does not depend on their order.
template <class T>
struct Gather {
  const Complex<T>* patches;
  const T* positions;
  Complex<T>* object;
  std::int64_t count;
  std::int64_t cols;
  std::int64_t detector;
  std::int64_t window;
  std::int64_t margin;

  RANKCHECK_HD Complex<T> tap(const Complex<T>* patch, std::int64_t p, std::int64_t q, T w) const {
    if (w == 0 || p < 0 || p >= window || q < 0 || q >= window) return {};
    return w * patch[(margin + p) * detector + margin + q];
  }

  RANKCHECK_HD void operator()(std::int64_t i) const {
    Complex<T> sum;
    for (std::int64_t n = 0; n < count; ++n) {
      const Window<T> at(positions + 2 * n);
      const Complex<T>* patch = patches + n * detector * detector;
      const std::int64_t p = i / cols - at.row;
      const std::int64_t q = i % cols - at.col;
      if (p < 0 || p > window || q < 0 || q > window) continue;
      sum += tap(patch, p, q, at.w00) + tap(patch, p, q - 1, at.w01) +
             tap(patch, p - 1, q, at.w10) + tap(patch, p - 1, q - 1, at.w11);
    }
    object[i] = sum;
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
              const spec::Scene& scene = run.scene();
              for (const int rank : run.local()) {
                launch(run.cluster(),
                       rank,
                       run.size(rank, spec::Array::object),
                       Gather<T>{.patches = run.in<Complex<T>>(rank, spec::Array::patches),
                                 .positions = run.in<T>(rank, spec::Array::positions),
                                 .object = run.out<Complex<T>>(rank, spec::Array::object),
                                 .count = run.positions(rank),
                                 .cols = scene.cols,
                                 .detector = scene.detector,
                                 .window = scene.window,
                                 .margin = spec::margin(scene)});
              }
            });
            run.sum_over_ranks(spec::Array::object);
          },
  };
}

}  // namespace rankcheck::gpu::insert
