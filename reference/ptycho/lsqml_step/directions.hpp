#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::lsqml_step {

/// Computes the directions of the contract's step, without its lengths. Makes object_direction,
/// probe_direction and cost. Also makes waves: the waves that come back to the object, which are
/// -chi, for every mode.
void directions(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::lsqml_step
