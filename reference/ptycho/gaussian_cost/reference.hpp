#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::gaussian_cost {

/// Needs far_waves, frames and mask; makes cost and far_waves.
void reference(const Setting& in, Setting& out);

}  // namespace rankcheck::reference::gaussian_cost
