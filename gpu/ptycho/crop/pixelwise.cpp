#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::crop {

namespace {

template <class T>
struct Crop {
  static constexpr spec::Array output = spec::Array::windows;

  const Complex<T>* patches;
  Complex<T>* windows;
  std::int64_t detector;
  std::int64_t window;
  std::int64_t margin;

  static Crop of(const OperatorRun& run, int rank) {
    return {.patches = run.in<Complex<T>>(rank, spec::Array::patches),
            .windows = run.out<Complex<T>>(rank, output),
            .detector = run.scene().detector,
            .window = run.scene().window,
            .margin = spec::margin(run.scene())};
  }

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t row = margin + i / window % window;
    const std::int64_t col = margin + i % window;
    windows[i] = patches[(i / (window * window) * detector + row) * detector + col];
  }
};

}  // namespace

Operator pixelwise() {
  return {.name = "pixelwise",
          .summary = "One thread computes each pixel of a window.",
          .run = launch_for_each_value<Crop>};
}

}  // namespace rankcheck::gpu::crop
