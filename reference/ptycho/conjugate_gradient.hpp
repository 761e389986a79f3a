#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference {

/// The reference of conjugate_gradient_step for the cost that `cost` computes, an operator like
/// gaussian_cost.
void conjugate_gradient_step_of(Operator cost, const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference
