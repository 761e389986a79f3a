#include "gpu/ptycho/passes/multislice.hpp"

namespace rankcheck::gpu::multislice {

namespace {

template <class T>
void run_typed(const OperatorRun& run) {
  through_slices<T>(run, true, [&](BatchedPasses<T>& passes, const RankBatch<T>& at) {
    auto* const waves = run.out<Complex<T>>(at.rank, spec::Array::waves) + at.first_wave;
    passes.forward(at.rank, at.scan, at.batch, waves);
  });
}

}  // namespace

Operator batched() {
  return {
      .name = "batched",
      .summary = "Waves travel from slice to slice, one batch of positions at a time.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() { run_typed<T>(run); });
          },
      .in_batches = true,
  };
}

}  // namespace rankcheck::gpu::multislice
