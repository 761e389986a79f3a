#include "reference/ptycho/propagate/reference.hpp"

#include "reference/ptycho/estimate.hpp"

namespace rankcheck::reference::propagate {

void reference(const OperatorArrays& in, OperatorArrays& out) {
  out[spec::Array::far_waves] = in[spec::Array::waves];
  transform(Direction::forward, in.scene.detector, in.unit, out[spec::Array::far_waves]);
}

}  // namespace rankcheck::reference::propagate
