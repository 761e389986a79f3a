#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::illuminate_adjoint_object {

/// Needs waves, probe and positions; makes object.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::illuminate_adjoint_object
