#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::intensity {

/// Needs far_waves, makes frames.
void reference(const Setting& in, Setting& out);

}  // namespace rankcheck::reference::intensity
