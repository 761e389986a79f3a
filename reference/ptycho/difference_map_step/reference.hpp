#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::difference_map_step {

/// Computes the contract's outputs from its inputs.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::difference_map_step
