#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::multislice_adjoint_probe {

/// Needs waves, object and positions; makes probe.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::multislice_adjoint_probe
