#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::halo_blend {

/// Needs the ranks' tiles, makes them anew.
void reference(const Setting& in, Setting& out);

}  // namespace rankcheck::reference::halo_blend
