#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::crop {

/// Needs patches, makes windows.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::crop
