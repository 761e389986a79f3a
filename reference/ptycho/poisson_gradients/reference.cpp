#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::poisson_gradients {

/// Needs object, probe, positions, frames and mask; makes cost, object and probe.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  gradients(in, poisson_cost::reference, out);
}

}  // namespace rankcheck::reference::poisson_gradients
