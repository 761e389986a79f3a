#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::conjugate_gradient_step {

/// Computes the contract's outputs from its inputs.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::conjugate_gradient_step
