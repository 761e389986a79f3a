#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::multislice_adjoint_object {

/// Needs waves, object, probe and positions; makes object.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::multislice_adjoint_object
