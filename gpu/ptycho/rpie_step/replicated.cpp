#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::rpie_step {

Operator replicated() {
  return replicated_step<StepKind::rpie>();
}

}  // namespace rankcheck::gpu::rpie_step
