#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::epie_step {

Operator replicated() {
  return replicated_step<StepKind::epie>();
}

}  // namespace rankcheck::gpu::epie_step
