#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::momentum_step {

/// Needs object, probe, positions, frames, mask, object_direction and probe_direction. Makes cost,
/// object, probe, object_direction and probe_direction.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::momentum_step
