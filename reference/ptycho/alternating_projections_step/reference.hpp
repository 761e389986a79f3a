#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::alternating_projections_step {

/// Computes the contract's outputs from its inputs.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::alternating_projections_step
