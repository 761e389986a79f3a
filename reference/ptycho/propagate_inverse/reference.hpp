#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::propagate_inverse {

/// Needs far_waves, makes waves.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::propagate_inverse
