#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::probe_preconditioner {

/// Needs object and positions, makes probe_weight.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::probe_preconditioner
