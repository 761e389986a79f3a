#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::illuminate {

/// Needs object, probe and positions; makes waves.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::illuminate
