#include "gpu/ptycho/passes/gradients.hpp"

namespace rankcheck::gpu::gaussian_gradients {

Operator fused() {
  return {
      .name = "fused",
      .summary =
          "The chain runs in five passes and two transforms over large batches. The object has one "
          "slice.",
      .refuses = refuses_slices,
      .run = [](const OperatorRun& run) { run_gradients(run, Noise::gaussian, Passes::fused); },
      .in_batches = true,
  };
}

}  // namespace rankcheck::gpu::gaussian_gradients
