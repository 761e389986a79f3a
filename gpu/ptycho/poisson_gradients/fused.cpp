#include "gpu/ptycho/passes/gradients.hpp"

namespace rankcheck::gpu::poisson_gradients {

Operator fused() {
  return {
      .name = "fused",
      .summary = "The chain in five passes over large batches, and two transforms; one slice.",
      .refuses = refuses_slices,
      .run = [](const OperatorRun& run) { run_gradients(run, Noise::poisson, Passes::fused); },
      .in_batches = true,
  };
}

}  // namespace rankcheck::gpu::poisson_gradients
