#include "reference/ptycho/poisson_conjugate_gradient_step/reference.hpp"

#include "reference/ptycho/conjugate_gradient.hpp"
#include "reference/ptycho/poisson_cost/reference.hpp"

namespace rankcheck::reference::poisson_conjugate_gradient_step {

void reference(const OperatorArrays& in, OperatorArrays& out) {
  conjugate_gradient_step_of(poisson_cost::reference, in, out);
}

}  // namespace rankcheck::reference::poisson_conjugate_gradient_step
