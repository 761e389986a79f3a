#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::multislice {

/// Needs object, probe and positions; makes waves.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::multislice
