#include "gpu/ptycho/step.hpp"

namespace rankcheck::gpu::rpie_step {

Operator replicated() {
  return replicated_step<StepKind::rpie>();
}

}  // namespace rankcheck::gpu::rpie_step
