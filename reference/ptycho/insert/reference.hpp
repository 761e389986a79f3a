#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::insert {

/// Needs patches and positions, makes object.
void reference(const Setting& in, Setting& out);

}  // namespace rankcheck::reference::insert
