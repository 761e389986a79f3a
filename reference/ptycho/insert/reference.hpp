#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::insert {

/// Needs patches and positions, makes object.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::insert
