#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::intensity {

namespace {

/// Computes one pixel of a frame.
template <class T>
struct SumModes {
  static constexpr spec::Array output = spec::Array::frames;

  const Complex<T>* waves;
  T* frames;
  std::int64_t modes;
  std::int64_t frame;

  static SumModes of(const OperatorRun& run, int rank) {
    return {.waves = run.in<Complex<T>>(rank, spec::Array::far_waves),
            .frames = run.out<T>(rank, output),
            .modes = run.scene().modes,
            .frame = spec::values(run.scene(), output)};
  }

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const Complex<T>* first = waves + i / frame * modes * frame + i % frame;
    T sum = 0;
    for (std::int64_t m = 0; m < modes; ++m) sum += norm(first[m * frame]);
    frames[i] = sum;
  }
};

}  // namespace

Operator pixelwise() {
  return {.name = "pixelwise",
          .summary = "One thread computes each pixel of a frame.",
          .run = launch_for_each_value<SumModes>};
}

}  // namespace rankcheck::gpu::intensity
