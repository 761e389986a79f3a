#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::partition_consecutive {

/// Needs positions, makes owners.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::partition_consecutive
