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
  std::int64_t modes;
  std::int64_t detector;
  std::int64_t window;
  std::int64_t margin;
  bool varying_probe;

  static Multiply of(const OperatorRun& run, int rank) {
    return {.object = {.values = run.in<Complex<T>>(rank, spec::Array::object),
                       .rows = run.scene().rows,
                       .cols = run.scene().cols},
            .probe = run.in<Complex<T>>(rank, spec::Array::probe),
            .positions = run.in<T>(rank, spec::Array::positions),
            .waves = run.out<Complex<T>>(rank, output),
            .modes = run.scene().modes,
            .detector = run.scene().detector,
            .window = run.scene().window,
            .margin = spec::margin(run.scene()),
            .varying_probe = run.scene().varying_probe};
  }

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

}  // namespace

Operator pixelwise() {
  return {.name = "pixelwise",
          .summary = "One thread computes each pixel of a wave.",
          .run = launch_for_each_value<Multiply>};
}

}  // namespace rankcheck::gpu::illuminate
