#include "gpu/ptycho/passes/cost.hpp"

namespace rankcheck::gpu::gaussian_cost {

Operator fused() {
  return {
      .name = "fused",
      .summary =
          "One pass computes intensity, cost and gradient. Each thread computes several pixels of "
          "a frame.",
      .run = [](const OperatorRun& run) { run_fused_cost(run, Noise::gaussian); },
      .in_batches = true,
  };
}

}  // namespace rankcheck::gpu::gaussian_cost
