#include "gpu/ptycho/gather.hpp"

#include "gpu/ptycho/arrays.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::illuminate_adjoint_object {

namespace {

template <class T>
void run_typed(const OperatorRun& run) {
  for (const int rank : run.local()) {
    auto* const object = run.out<Complex<T>>(rank, spec::Array::object);
    fill(run.cluster(), rank, run.size(rank, spec::Array::object), object, Complex<T>{});
    add_windows(run.cluster(),
                rank,
                run.scene(),
                run.in<T>(rank, spec::Array::positions),
                run.positions(rank),
                ConjugateTimesWaves<T>(run.scene(),
                                       run.in<Complex<T>>(rank, spec::Array::probe),
                                       run.in<Complex<T>>(rank, spec::Array::waves)),
                object);
  }
  run.sum_over_ranks(spec::Array::object);
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

}  // namespace rankcheck::gpu::illuminate_adjoint_object
