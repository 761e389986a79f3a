#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::momentum_step {

Operator replicated() {
  return replicated_step<StepKind::momentum>();
}

}  // namespace rankcheck::gpu::momentum_step
