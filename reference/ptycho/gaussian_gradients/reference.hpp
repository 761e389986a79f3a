#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::gaussian_gradients {

/// Needs object, probe, positions, frames and mask; makes cost, object and probe.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::gaussian_gradients
