#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::pad {

/// Needs windows, makes patches.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::pad
