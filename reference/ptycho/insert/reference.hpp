#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::insert {

/// Needs patches and positions, makes object.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::insert
