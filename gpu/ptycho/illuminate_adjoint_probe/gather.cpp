#include "gpu/ptycho/kernels/window.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::illuminate_adjoint_probe {

namespace {

/// Computes one pixel of the probe: the sum over the rank's positions. If the probe varies, only
/// the position of this probe contributes.
template <class T>
struct Gather {
  static constexpr spec::Array output = spec::Array::probe;

  ObjectView<T> object;
  const Complex<T>* waves;
  const T* positions;
  Complex<T>* probe;
  std::int64_t count;
  spec::Scene scene;

  static Gather of(const OperatorRun& run, int rank) {
    return {.object = {run.scene(), run.in<Complex<T>>(rank, spec::Array::object)},
            .waves = run.in<Complex<T>>(rank, spec::Array::waves),
            .positions = run.in<T>(rank, spec::Array::positions),
            .probe = run.out<Complex<T>>(rank, output),
            .count = run.positions(rank),
            .scene = run.scene()};
  }

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t q = i % scene.window;
    const std::int64_t p = i / scene.window % scene.window;
    const std::int64_t mode = i / scene.window / scene.window;
    const std::int64_t first = scene.varying_probe ? mode / scene.modes : 0;
    const std::int64_t end = scene.varying_probe ? first + 1 : count;
    const std::int64_t margin = spec::margin(scene);
    Complex<T> sum;
    for (std::int64_t n = first; n < end; ++n) {
      const std::int64_t row = (n * scene.modes + mode % scene.modes) * scene.detector + margin + p;
      sum += conj(object.at(Window<T>(positions + 2 * n), p, q)) *
             waves[row * scene.detector + margin + q];
    }
    probe[i] = sum;
  }
};

}  // namespace

Operator gather() {
  return {.name = "gather",
          .summary = "One thread for each pixel of the probe sums over the positions.",
          .run = [](const OperatorRun& run) {
            launch_for_each_value<Gather>(run);
            if (!run.scene().varying_probe) run.sum_over_ranks(spec::Array::probe);
          }};
}

}  // namespace rankcheck::gpu::illuminate_adjoint_probe
