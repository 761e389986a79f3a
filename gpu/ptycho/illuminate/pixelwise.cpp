#include "gpu/ptycho/kernels/window.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::illuminate {

namespace {

/// Computes one pixel of a wave.
template <class T>
struct Multiply {
  ObjectView<T> object;
  const Complex<T>* probe;
  const T* positions;
  Complex<T>* waves;
  std::int64_t modes;
  std::int64_t detector;
  std::int64_t window;
  std::int64_t margin;
  bool varying_probe;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t q = i % detector - margin;
    const std::int64_t p = i / detector % detector - margin;
    if (p < 0 || p >= window || q < 0 || q >= window) {
      waves[i] = {};
      return;
    }
    const std::int64_t layer = i / (detector * detector);
    const std::int64_t n = layer / modes;
    const std::int64_t mode = varying_probe ? layer : layer % modes;
    waves[i] =
        object.at(Window<T>(positions + 2 * n), p, q) * probe[(mode * window + p) * window + q];
  }
};

template <class T>
void run_typed(const OperatorRun& run) {
  const spec::Scene& scene = run.scene();
  for (const int rank : run.local()) {
    launch(run.cluster(),
           rank,
           run.size(rank, spec::Array::waves),
           Multiply<T>{.object = {.values = run.in<Complex<T>>(rank, spec::Array::object),
                                  .rows = scene.rows,
                                  .cols = scene.cols},
                       .probe = run.in<Complex<T>>(rank, spec::Array::probe),
                       .positions = run.in<T>(rank, spec::Array::positions),
                       .waves = run.out<Complex<T>>(rank, spec::Array::waves),
                       .modes = scene.modes,
                       .detector = scene.detector,
                       .window = scene.window,
                       .margin = spec::margin(scene),
                       .varying_probe = scene.varying_probe});
  }
}

}  // namespace

Operator pixelwise() {
  return {
      .name = "pixelwise",
      .summary = "One thread computes each pixel of a wave.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() { run_typed<T>(run); });
          },
  };
}

}  // namespace rankcheck::gpu::illuminate
