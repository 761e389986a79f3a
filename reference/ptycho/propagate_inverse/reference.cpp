#include "reference/ptycho/propagate_inverse/reference.hpp"

#include "reference/ptycho/estimate.hpp"

namespace rankcheck::reference::propagate_inverse {

void reference(const OperatorArrays& in, OperatorArrays& out) {
  out[spec::Array::waves] = in[spec::Array::far_waves];
  transform(Direction::inverse, in.scene.detector, in.unit, out[spec::Array::waves]);
}

}  // namespace rankcheck::reference::propagate_inverse
