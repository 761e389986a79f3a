#include "gpu/ptycho/arrays.hpp"
#include "gpu/ptycho/operator.hpp"
#include "gpu/ptycho/slices.hpp"

namespace rankcheck::gpu::multislice_adjoint_object {

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
    auto* const out = run.out<Complex<T>>(rank, spec::Array::object);
    fill(run.cluster(), rank, run.size(rank, spec::Array::object), out, Complex<T>{});
    slices.for_each_batch(exposure.count, [&](Batch batch) {
      const auto* waves = run.in<Complex<T>>(rank, spec::Array::waves) + batch.first * size;
      slices.forward(rank, exposure, batch, nullptr);
      slices.backward(rank, exposure, batch, waves, out, nullptr);
    });
  }
  run.sum_over_ranks(spec::Array::object);
}

}  // namespace

Operator batched() {
  return {
      .name = "batched",
      .summary = "Forth and back through the slices for a batch of positions at a time, then sums.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() { run_typed<T>(run); });
          },
  };
}

}  // namespace rankcheck::gpu::multislice_adjoint_object
