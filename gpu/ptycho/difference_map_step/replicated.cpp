#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::difference_map_step {

Operator replicated() {
  return replicated_step<StepKind::difference_map>();
}

}  // namespace rankcheck::gpu::difference_map_step
