#include "gpu/ptycho/passes/gradients.hpp"

namespace rankcheck::gpu::poisson_gradients {

Operator batched() {
  return {
      .name = "batched",
      .summary =
          "The whole chain runs for one batch of frames at a time, then the ranks' results are "
          "summed.",
      .run = [](const OperatorRun& run) { run_gradients(run, Noise::poisson, Passes::batched); },
      .in_batches = true,
  };
}

}  // namespace rankcheck::gpu::poisson_gradients
