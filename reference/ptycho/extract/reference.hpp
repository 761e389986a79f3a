#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::extract {

/// Needs object and positions, makes patches.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::extract
