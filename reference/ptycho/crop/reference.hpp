#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::crop {

/// Needs patches, makes windows.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::crop
