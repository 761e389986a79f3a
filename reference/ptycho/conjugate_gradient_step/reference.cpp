#include "reference/ptycho/conjugate_gradient_step/reference.hpp"

#include "reference/ptycho/conjugate_gradient.hpp"
#include "reference/ptycho/gaussian_cost/reference.hpp"

namespace rankcheck::reference::conjugate_gradient_step {

void reference(const OperatorArrays& in, OperatorArrays& out) {
  conjugate_gradient_step_of(gaussian_cost::reference, in, out);
}

}  // namespace rankcheck::reference::conjugate_gradient_step
