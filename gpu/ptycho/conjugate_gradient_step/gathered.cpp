#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::conjugate_gradient_step {

Operator gathered() {
  return gathered_step<StepKind::conjugate_gradient>();
}

}  // namespace rankcheck::gpu::conjugate_gradient_step
