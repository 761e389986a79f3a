#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::illuminate {

/// Needs object, probe and positions; makes waves.
void reference(const Setting& in, Setting& out);

}  // namespace rankcheck::reference::illuminate
