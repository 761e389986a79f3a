#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::propagate {

/// Needs waves, makes far_waves.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  out[spec::Array::far_waves] = in[spec::Array::waves];
  transform(Direction::forward, in.scene.detector, in.unit, out[spec::Array::far_waves]);
}

}  // namespace rankcheck::reference::propagate
