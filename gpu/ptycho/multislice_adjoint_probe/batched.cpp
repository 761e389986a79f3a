#include "gpu/ptycho/arrays.hpp"
#include "gpu/ptycho/operator.hpp"
#include "gpu/ptycho/slices.hpp"

namespace rankcheck::gpu::multislice_adjoint_probe {

namespace {

template <class T>
void run_typed(const OperatorRun& run) {
  Slices<T> slices(run.cluster(), run.scene());
  const std::int64_t size = spec::values(run.scene(), spec::Array::waves);
  for (const int rank : run.local()) {
    const Exposure<T> exposure{.object = run.in<Complex<T>>(rank, spec::Array::object),
                               .positions = run.in<T>(rank, spec::Array::positions),
                               .count = run.positions(rank)};
    auto* const out = run.out<Complex<T>>(rank, spec::Array::probe);
    fill(run.cluster(), rank, run.size(rank, spec::Array::probe), out, Complex<T>{});
    slices.for_each_batch(exposure.count, [&](Batch batch) {
      const auto* waves = run.in<Complex<T>>(rank, spec::Array::waves) + batch.first * size;
      slices.forward(rank, exposure, batch, nullptr);
      slices.backward(rank, exposure, batch, waves, nullptr, out);
    });
  }
  if (!run.scene().varying_probe) run.sum_over_ranks(spec::Array::probe);
}

}  // namespace

Operator batched() {
  return {
      .name = "batched",
      .summary = "Back through the slices for a batch of positions at a time, then sums.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() { run_typed<T>(run); });
          },
  };
}

}  // namespace rankcheck::gpu::multislice_adjoint_probe
