#include "reference/ptycho/gaussian_gradients/reference.hpp"

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/gaussian_cost/reference.hpp"

namespace rankcheck::reference::gaussian_gradients {

void reference(const OperatorArrays& in, OperatorArrays& out) {
  gradients(in, gaussian_cost::reference, out);
}

}  // namespace rankcheck::reference::gaussian_gradients
