#include "gpu/ptycho/passes/cost.hpp"

namespace rankcheck::gpu::gaussian_cost {

Operator pixelwise() {
  return {
      .name = "pixelwise",
      .summary =
          "One thread computes each pixel of a frame. The costs are summed by row, by rank and "
          "over all ranks.",
      .run = [](const OperatorRun& run) { run_cost<Noise::gaussian>(run); },
  };
}

}  // namespace rankcheck::gpu::gaussian_cost
