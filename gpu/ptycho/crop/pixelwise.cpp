#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::crop {

namespace {

template <class T>
struct Crop {
  const Complex<T>* patches;
  Complex<T>* windows;
  std::int64_t detector;
  std::int64_t window;
  std::int64_t margin;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t row = margin + i / window % window;
    const std::int64_t col = margin + i % window;
    windows[i] = patches[(i / (window * window) * detector + row) * detector + col];
  }
};

}  // namespace

Operator pixelwise() {
  return {
      .name = "pixelwise",
      .summary = "One thread computes each pixel of a window.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() {
              for (const int rank : run.local()) {
                const spec::Scene& scene = run.scene();
                launch(run.cluster(),
                       rank,
                       run.size(rank, spec::Array::windows),
                       Crop<T>{.patches = run.in<Complex<T>>(rank, spec::Array::patches),
                               .windows = run.out<Complex<T>>(rank, spec::Array::windows),
                               .detector = scene.detector,
                               .window = scene.window,
                               .margin = spec::margin(scene)});
              }
            });
          },
  };
}

}  // namespace rankcheck::gpu::crop
