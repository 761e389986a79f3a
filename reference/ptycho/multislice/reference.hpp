#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::multislice {

/// Needs object, probe and positions; makes waves.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::multislice
