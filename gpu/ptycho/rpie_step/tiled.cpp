#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::rpie_step {

Operator tiled() {
  return tiled_step<StepKind::rpie>();
}

}  // namespace rankcheck::gpu::rpie_step
