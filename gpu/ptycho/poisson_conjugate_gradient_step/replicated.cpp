#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::poisson_conjugate_gradient_step {

Operator replicated() {
  return replicated_step<StepKind::poisson_conjugate_gradient>();
}

}  // namespace rankcheck::gpu::poisson_conjugate_gradient_step
