#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::poisson_conjugate_gradient_step {

Operator tiled() {
  return tiled_step<StepKind::poisson_conjugate_gradient>();
}

}  // namespace rankcheck::gpu::poisson_conjugate_gradient_step
