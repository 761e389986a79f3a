#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::crop {

namespace {

template <class T>
struct Crop {
  static constexpr spec::Array output = spec::Array::windows;

  const Complex<T>* patches;
  Complex<T>* windows;
  spec::Scene scene;

  static Crop of(const OperatorRun& run, int rank) {
    return {.patches = run.in<Complex<T>>(rank, spec::Array::patches),
            .windows = run.out<Complex<T>>(rank, output),
            .scene = run.scene()};
  }

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t row = spec::margin(scene) + i / scene.window % scene.window;
    const std::int64_t col = spec::margin(scene) + i % scene.window;
    const std::int64_t n = i / scene.window / scene.window;
    windows[i] = patches[(n * scene.detector + row) * scene.detector + col];
  }
};

}  // namespace

Operator pixelwise() {
  return {.name = "pixelwise",
          .summary = "One thread computes each pixel of a window.",
          .run = launch_for_each_value<Crop>};
}

}  // namespace rankcheck::gpu::crop
