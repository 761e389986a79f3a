#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::propagate_inverse {

/// Needs far_waves, makes waves.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  out[spec::Array::waves] = in[spec::Array::far_waves];
  transform(Direction::inverse, in.scene.detector, in.unit, out[spec::Array::waves]);
}

}  // namespace rankcheck::reference::propagate_inverse
