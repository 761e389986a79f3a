#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::extract {

/// Needs object and positions, makes patches.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::extract
