#include "gpu/ptycho/passes/cost.hpp"

namespace rankcheck::gpu::gaussian_cost {

Operator pixelwise() {
  return {
      .name = "pixelwise",
      .summary =
          "One thread computes each pixel of a frame. Then rows, ranks and all ranks are summed.",
      .run = [](const OperatorRun& run) { run_cost<Noise::gaussian>(run); },
  };
}

}  // namespace rankcheck::gpu::gaussian_cost
