#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::propagate_inverse {

/// Needs far_waves, makes waves.
void reference(const Setting& in, Setting& out);

}  // namespace rankcheck::reference::propagate_inverse
