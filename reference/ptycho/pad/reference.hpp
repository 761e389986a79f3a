#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::pad {

/// Needs windows, makes patches.
void reference(const Setting& in, Setting& out);

}  // namespace rankcheck::reference::pad
