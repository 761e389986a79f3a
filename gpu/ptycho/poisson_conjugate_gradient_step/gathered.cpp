#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::poisson_conjugate_gradient_step {

Operator gathered() {
  return gathered_step<StepKind::poisson_conjugate_gradient>();
}

}  // namespace rankcheck::gpu::poisson_conjugate_gradient_step
