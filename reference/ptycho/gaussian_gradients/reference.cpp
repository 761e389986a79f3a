#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::gaussian_gradients {

/// Needs object, probe, positions, frames and mask; makes cost, object and probe.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  gradients(in, gaussian_cost::reference, out);
}

}  // namespace rankcheck::reference::gaussian_gradients
