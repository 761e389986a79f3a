#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::probe_preconditioner {

/// Needs object and positions, makes probe_weight.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::probe_preconditioner
