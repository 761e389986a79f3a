#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::shift_back {

/// Needs waves and positions; makes new waves.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::shift_back
