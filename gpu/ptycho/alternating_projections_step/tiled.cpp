#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::alternating_projections_step {

Operator tiled() {
  return tiled_step<StepKind::alternating_projections>();
}

}  // namespace rankcheck::gpu::alternating_projections_step
