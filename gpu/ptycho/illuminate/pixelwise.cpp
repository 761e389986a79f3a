#include "gpu/ptycho/kernels/window.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::illuminate {

namespace {

/// Computes one pixel of a wave.
template <class T>
struct Multiply {
  static constexpr spec::Array output = spec::Array::waves;

  ObjectView<T> object;
  const Complex<T>* probe;
  const T* positions;
  Complex<T>* waves;
  spec::Scene scene;

  static Multiply of(const OperatorRun& run, int rank) {
    return {.object = {run.scene(), run.in<Complex<T>>(rank, spec::Array::object)},
            .probe = run.in<Complex<T>>(rank, spec::Array::probe),
            .positions = run.in<T>(rank, spec::Array::positions),
            .waves = run.out<Complex<T>>(rank, output),
            .scene = run.scene()};
  }

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const FramePixel at(scene, i);
    if (!at.is_in_window) {
      waves[i] = {};
      return;
    }
    const Window<T> window(positions + 2 * (at.frame / scene.modes));
    const std::int64_t mode = scene.varying_probe ? at.frame : at.frame % scene.modes;
    waves[i] =
        object.at(window, at.p, at.q) * probe[(mode * scene.window + at.p) * scene.window + at.q];
  }
};

}  // namespace

Operator pixelwise() {
  return {.name = "pixelwise",
          .summary = "One thread computes each pixel of a wave.",
          .run = launch_for_each_value<Multiply>};
}

}  // namespace rankcheck::gpu::illuminate
