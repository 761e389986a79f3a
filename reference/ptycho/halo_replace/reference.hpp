#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::halo_replace {

/// Needs the ranks' tiles and makes new tiles.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::halo_replace
