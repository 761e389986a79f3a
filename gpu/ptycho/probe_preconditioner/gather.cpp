#include "gpu/ptycho/kernels/window.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::probe_preconditioner {

namespace {

/// Computes one pixel of the window: the sum over all positions.
template <class T>
struct Gather {
  ObjectView<T> object;
  const T* positions;
  T* weight;
  std::int64_t count;
  std::int64_t width;

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
  return {
      .name = "gather",
      .summary = "One thread for each pixel of the window sums over the positions.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() {
              for (const int rank : run.local()) {
                launch(run.cluster(),
                       rank,
                       run.size(rank, spec::Array::probe_weight),
                       Gather<T>{.object = {.values = run.in<Complex<T>>(rank, spec::Array::object),
                                            .rows = run.scene().rows,
                                            .cols = run.scene().cols},
                                 .positions = run.in<T>(rank, spec::Array::positions),
                                 .weight = run.out<T>(rank, spec::Array::probe_weight),
                                 .count = run.positions(rank),
                                 .width = run.scene().window});
              }
            });
            run.sum_over_ranks(spec::Array::probe_weight);
          },
  };
}

}  // namespace rankcheck::gpu::probe_preconditioner
