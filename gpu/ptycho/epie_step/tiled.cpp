#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::epie_step {

Operator tiled() {
  return tiled_step<StepKind::epie>();
}

}  // namespace rankcheck::gpu::epie_step
