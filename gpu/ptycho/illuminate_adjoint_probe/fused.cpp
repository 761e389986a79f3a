#include "gpu/ptycho/kernels/arrays.hpp"
#include "gpu/ptycho/operator.hpp"
#include "gpu/ptycho/passes/fused_passes.hpp"

namespace rankcheck::gpu::illuminate_adjoint_probe {

namespace {

template <class T>
void run_fused(const OperatorRun& run) {
  FusedPasses<T> fused(run.cluster(), run.scene());
  const std::int64_t of_wave = spec::values(run.scene(), spec::Array::waves);
  for (const int rank : run.local()) {
    const ScanShare<T> scan{.object = run.in<Complex<T>>(rank, spec::Array::object),
                            .positions = run.in<T>(rank, spec::Array::positions)};
    const auto* const waves = run.in<Complex<T>>(rank, spec::Array::waves);
    auto* const probe = run.out<Complex<T>>(rank, spec::Array::probe);
    fill(run.cluster(), rank, run.size(rank, spec::Array::probe), probe, Complex<T>{});
    fused.for_each_batch(run.positions(rank), [&](Batch batch) {
      fused.add_to_probe(rank, scan, batch, waves + batch.first * of_wave, probe);
    });
  }
  if (!run.scene().varying_probe) run.sum_over_ranks(spec::Array::probe);
}

}  // namespace

Operator fused() {
  return {
      .name = "fused",
      .summary =
          "Each thread sums a few pixels of the probe over a group of positions. Then the groups "
          "are summed.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() { run_fused<T>(run); });
          },
      .in_batches = true,
  };
}

}  // namespace rankcheck::gpu::illuminate_adjoint_probe
