#include "gpu/ptycho/kernels/window.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::probe_preconditioner {

namespace {

/// Computes one pixel of the window: the sum over all positions.
template <class T>
struct Gather {
  static constexpr spec::Array output = spec::Array::probe_weight;

  ObjectView<T> object;
  const T* positions;
  T* weight;
  std::int64_t count;
  std::int64_t width;

  static Gather of(const OperatorRun& run, int rank) {
    return {.object = {run.scene(), run.in<Complex<T>>(rank, spec::Array::object)},
            .positions = run.in<T>(rank, spec::Array::positions),
            .weight = run.out<T>(rank, output),
            .count = run.positions(rank),
            .width = run.scene().window};
  }

  RANKCHECK_HD void operator()(std::int64_t i) const {
    T sum = 0;
    for (std::int64_t n = 0; n < count; ++n) {
      sum += norm(object.at(Window<T>(positions + 2 * n), i / width, i % width));
    }
    weight[i] = sum;
  }
};

}  // namespace

Operator gather() {
  return {.name = "gather",
          .summary = "One thread for each pixel of the window sums over the positions.",
          .run = [](const OperatorRun& run) {
            launch_for_each_value<Gather>(run);
            run.sum_over_ranks(spec::Array::probe_weight);
          }};
}

}  // namespace rankcheck::gpu::probe_preconditioner
