#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::lsqml_step {

Operator replicated() {
  return replicated_step<StepKind::lsqml>();
}

}  // namespace rankcheck::gpu::lsqml_step
