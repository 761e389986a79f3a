#include "gpu/ptycho/operator.hpp"
#include "gpu/ptycho/passes/fused_passes.hpp"

namespace rankcheck::gpu::illuminate {

namespace {

template <class T>
void run_fused(const OperatorRun& run) {
  FusedPasses<T> fused(run.cluster(), run.scene());
  for (const int rank : run.local()) {
    const ScanShare<T> scan{.object = run.in<Complex<T>>(rank, spec::Array::object),
                            .probe = run.in<Complex<T>>(rank, spec::Array::probe),
                            .positions = run.in<T>(rank, spec::Array::positions)};
    auto* const waves = run.out<Complex<T>>(rank, spec::Array::waves);
    fused.illuminate(rank, scan, {.count = run.positions(rank)}, waves);
  }
}

}  // namespace

Operator fused() {
  return {
      .name = "fused",
      .summary =
          "Each thread computes a few pixels of a frame and reads the object once for all modes.",
      .run =
          [](const OperatorRun& run) {
            with_precision(run.call().type, [&]<class T>() { run_fused<T>(run); });
          },
  };
}

}  // namespace rankcheck::gpu::illuminate
