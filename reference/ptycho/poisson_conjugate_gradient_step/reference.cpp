#include "reference/ptycho/conjugate_gradient.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::poisson_conjugate_gradient_step {

/// Computes the contract's outputs from its inputs.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  conjugate_gradient_step_of(poisson_cost::reference, in, out);
}

}  // namespace rankcheck::reference::poisson_conjugate_gradient_step
