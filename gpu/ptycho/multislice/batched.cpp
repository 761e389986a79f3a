#include "gpu/ptycho/operator.hpp"
#include "gpu/ptycho/slices.hpp"

namespace rankcheck::gpu::multislice {

namespace {

template <class T>
void run_typed(const OperatorRun& run) {
  Slices<T> slices(run.cluster(), run.scene());
  const std::int64_t size = spec::values(run.scene(), spec::Array::waves);
  for (const int rank : run.local()) {
    const Exposure<T> exposure{.object = run.in<Complex<T>>(rank, spec::Array::object),
                               .probe = run.in<Complex<T>>(rank, spec::Array::probe),
                               .positions = run.in<T>(rank, spec::Array::positions),
                               .count = run.positions(rank)};
    slices.for_each_batch(exposure.count, [&](Batch batch) {
      slices.forward(rank,
                     exposure,
                     batch,
                     run.out<Complex<T>>(rank, spec::Array::waves) + batch.first * size);
    });
  }
}

}  // namespace

Operator batched() {
  return {
      .name = "batched",
      .summary = "From slice to slice for a batch of positions at a time.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() { run_typed<T>(run); });
          },
  };
}

}  // namespace rankcheck::gpu::multislice
