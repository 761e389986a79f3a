#include "gpu/ptycho/passes/cost.hpp"

namespace rankcheck::gpu::poisson_cost {

Operator pixelwise() {
  return {
      .name = "pixelwise",
      .summary = "A thread for each pixel of a frame, then sums of rows, of a rank, of all ranks.",
      .run = [](const OperatorRun& run) { run_cost<Noise::poisson>(run); },
  };
}

}  // namespace rankcheck::gpu::poisson_cost
