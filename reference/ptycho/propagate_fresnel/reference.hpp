#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::propagate_fresnel {

/// Needs waves and makes new waves.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::propagate_fresnel
