#include "gpu/ptycho/gather.hpp"

#include "gpu/ptycho/arrays.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::object_preconditioner {

namespace {

/// The light of all modes on a pixel of the window.
template <class T>
struct Light {
  const Complex<T>* probe;
  std::int64_t width;
  std::int64_t modes;
  bool varying_probe;

  using Line = const Complex<T>*;

  [[nodiscard]] RANKCHECK_HD Line line(std::int64_t n, std::int64_t p) const {
    return probe + ((varying_probe ? n * modes : 0) * width + p) * width;
  }
  RANKCHECK_HD T operator()(Line line, std::int64_t q) const {
    T light = 0;
    for (std::int64_t m = 0; m < modes; ++m) light += norm(line[m * width * width + q]);
    return light;
  }
};

template <class T>
void run_typed(const OperatorRun& run) {
  const spec::Scene& scene = run.scene();
  for (const int rank : run.local()) {
    T* const weight = run.out<T>(rank, spec::Array::object_weight);
    fill(run.cluster(), rank, run.size(rank, spec::Array::object_weight), weight, T{0});
    add_windows(run.cluster(),
                rank,
                scene,
                run.in<T>(rank, spec::Array::positions),
                run.positions(rank),
                Light<T>{.probe = run.in<Complex<T>>(rank, spec::Array::probe),
                         .width = scene.window,
                         .modes = scene.modes,
                         .varying_probe = scene.varying_probe},
                weight);
  }
  run.sum_over_ranks(spec::Array::object_weight);
}

}  // namespace

Operator gather() {
  return {
      .name = "gather",
      .summary = "A thread for each pixel of the object sums over the windows that cover it.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() { run_typed<T>(run); });
          },
  };
}

}  // namespace rankcheck::gpu::object_preconditioner
