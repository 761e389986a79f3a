#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::gaussian_cost {

/// Needs far_waves, frames and mask; makes cost and far_waves.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::gaussian_cost
