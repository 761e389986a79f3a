#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference {

/// What conjugate_gradient_step means, of the cost that an operator like gaussian_cost makes.
void conjugate_gradient_step_of(Operator cost, const Setting& in, Setting& out);

}  // namespace rankcheck::reference
