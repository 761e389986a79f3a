#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::pad {

namespace {

template <class T>
struct Pad {
  const Complex<T>* windows;
  Complex<T>* patches;
  std::int64_t detector;
  std::int64_t window;
  std::int64_t margin;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t q = i % detector - margin;
    const std::int64_t p = i / detector % detector - margin;
    const std::int64_t n = i / (detector * detector);
    const bool inside = p >= 0 && p < window && q >= 0 && q < window;
    patches[i] = inside ? windows[(n * window + p) * window + q] : Complex<T>{};
  }
};

}  // namespace

Operator pixelwise() {
  return {
      .name = "pixelwise",
      .summary = "One thread computes each pixel of a frame.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() {
              for (const int rank : run.local()) {
                const spec::Scene& scene = run.scene();
                launch(run.cluster(),
                       rank,
                       run.size(rank, spec::Array::patches),
                       Pad<T>{.windows = run.in<Complex<T>>(rank, spec::Array::windows),
                              .patches = run.out<Complex<T>>(rank, spec::Array::patches),
                              .detector = scene.detector,
                              .window = scene.window,
                              .margin = spec::margin(scene)});
              }
            });
          },
  };
}

}  // namespace rankcheck::gpu::pad
