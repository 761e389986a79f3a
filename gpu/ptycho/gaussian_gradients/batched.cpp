#include "gpu/ptycho/passes/gradients.hpp"

namespace rankcheck::gpu::gaussian_gradients {

Operator batched() {
  return {
      .name = "batched",
      .summary = "The whole chain for a batch of frames at a time, then sums over the ranks.",
      .run = [](const OperatorRun& run) { run_gradients(run, Noise::gaussian, Passes::batched); },
      .in_batches = true,
  };
}

}  // namespace rankcheck::gpu::gaussian_gradients
