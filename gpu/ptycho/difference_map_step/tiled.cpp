#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::difference_map_step {

Operator tiled() {
  return tiled_step<StepKind::difference_map>();
}

}  // namespace rankcheck::gpu::difference_map_step
