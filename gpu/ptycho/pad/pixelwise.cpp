#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::pad {

namespace {

template <class T>
struct Pad {
  static constexpr spec::Array output = spec::Array::patches;

  const Complex<T>* windows;
  Complex<T>* patches;
  std::int64_t detector;
  std::int64_t window;
  std::int64_t margin;

  static Pad of(const OperatorRun& run, int rank) {
    return {.windows = run.in<Complex<T>>(rank, spec::Array::windows),
            .patches = run.out<Complex<T>>(rank, output),
            .detector = run.scene().detector,
            .window = run.scene().window,
            .margin = spec::margin(run.scene())};
  }

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
  return {.name = "pixelwise",
          .summary = "One thread computes each pixel of a frame.",
          .run = launch_for_each_value<Pad>};
}

}  // namespace rankcheck::gpu::pad
