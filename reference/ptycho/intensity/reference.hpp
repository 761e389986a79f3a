#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::intensity {

/// Needs far_waves, makes frames.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::intensity
