#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::momentum_step {

Operator tiled() {
  return tiled_step<StepKind::momentum>();
}

}  // namespace rankcheck::gpu::momentum_step
