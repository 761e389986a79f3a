#include "gpu/ptycho/kernels/arrays.hpp"
#include "gpu/ptycho/passes/multislice.hpp"

namespace rankcheck::gpu::multislice_adjoint_probe {

namespace {

template <class T>
void run_typed(const OperatorRun& run) {
  for (const int rank : run.local()) {
    auto* const out = run.out<Complex<T>>(rank, spec::Array::probe);
    fill(run.cluster(), rank, run.size(rank, spec::Array::probe), out, Complex<T>{});
  }
  through_slices<T>(run, false, [&](BatchedPasses<T>& passes, const RankBatch<T>& at) {
    const auto* const waves = run.in<Complex<T>>(at.rank, spec::Array::waves) + at.first_wave;
    auto* const out = run.out<Complex<T>>(at.rank, spec::Array::probe);
    passes.forward(at.rank, at.scan, at.batch, nullptr);
    passes.backward(at.rank, at.scan, at.batch, waves, nullptr, out);
  });
  if (!run.scene().varying_probe) run.sum_over_ranks(spec::Array::probe);
}

}  // namespace

Operator batched() {
  return {
      .name = "batched",
      .summary =
          "Waves travel back through the slices, one batch of positions at a time. Then the "
          "results are summed.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() { run_typed<T>(run); });
          },
      .in_batches = true,
  };
}

}  // namespace rankcheck::gpu::multislice_adjoint_probe
