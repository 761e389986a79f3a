#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::alternating_projections_step {

Operator replicated() {
  return replicated_step<StepKind::alternating_projections>();
}

}  // namespace rankcheck::gpu::alternating_projections_step
