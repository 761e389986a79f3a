#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::propagate {

/// Needs waves, makes far_waves.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::propagate
