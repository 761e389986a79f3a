#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::object_preconditioner {

/// Needs probe and positions, makes object_weight.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::object_preconditioner
