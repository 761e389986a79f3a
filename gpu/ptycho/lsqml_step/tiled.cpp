#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu::lsqml_step {

Operator tiled() {
  return tiled_step<StepKind::lsqml>();
}

}  // namespace rankcheck::gpu::lsqml_step
