#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::orthogonalize_modes {

/// Needs the probe and makes a new probe. The errors are infinite: the values are defined only up
/// to phases and mixtures of equally strong modes.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::orthogonalize_modes
