#include "gpu/ptycho/kernels/window.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::illuminate_adjoint_probe {

namespace {

/// Computes one pixel of the probe: the sum over the rank's positions. If the probe varies, only
/// the position of this probe contributes.
template <class T>
struct Gather {
  ObjectView<T> object;
  const Complex<T>* waves;
  const T* positions;
  Complex<T>* probe;
  std::int64_t count;
  std::int64_t modes;
  std::int64_t detector;
  std::int64_t window;
  std::int64_t margin;
  bool varying_probe;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t q = i % window;
    const std::int64_t p = i / window % window;
    const std::int64_t mode = i / (window * window);
    const std::int64_t first = varying_probe ? mode / modes : 0;
    const std::int64_t end = varying_probe ? first + 1 : count;
    Complex<T> sum;
    for (std::int64_t n = first; n < end; ++n) {
      const std::int64_t layer = n * modes + mode % modes;
      sum += conj(object.at(Window<T>(positions + 2 * n), p, q)) *
             waves[(layer * detector + margin + p) * detector + margin + q];
    }
    probe[i] = sum;
  }
};

template <class T>
void run_typed(const OperatorRun& run) {
  const spec::Scene& scene = run.scene();
  for (const int rank : run.local()) {
    launch(run.cluster(),
           rank,
           run.size(rank, spec::Array::probe),
           Gather<T>{.object = {.values = run.in<Complex<T>>(rank, spec::Array::object),
                                .rows = scene.rows,
                                .cols = scene.cols},
                     .waves = run.in<Complex<T>>(rank, spec::Array::waves),
                     .positions = run.in<T>(rank, spec::Array::positions),
                     .probe = run.out<Complex<T>>(rank, spec::Array::probe),
                     .count = run.positions(rank),
                     .modes = scene.modes,
                     .detector = scene.detector,
                     .window = scene.window,
                     .margin = spec::margin(scene),
                     .varying_probe = scene.varying_probe});
  }
  if (!scene.varying_probe) run.sum_over_ranks(spec::Array::probe);
}

}  // namespace

Operator gather() {
  return {
      .name = "gather",
      .summary = "One thread for each pixel of the probe sums over the positions.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() { run_typed<T>(run); });
          },
  };
}

}  // namespace rankcheck::gpu::illuminate_adjoint_probe
