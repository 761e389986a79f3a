#include "reference/ptycho/poisson_gradients/reference.hpp"

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/poisson_cost/reference.hpp"

namespace rankcheck::reference::poisson_gradients {

void reference(const OperatorArrays& in, OperatorArrays& out) {
  gradients(in, poisson_cost::reference, out);
}

}  // namespace rankcheck::reference::poisson_gradients
