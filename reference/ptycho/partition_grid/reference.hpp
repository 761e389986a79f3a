#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::partition_grid {

/// Needs positions, makes owners.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::partition_grid
