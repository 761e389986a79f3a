#pragma once

#include "reference/collectives/piece.hpp"
#include "reference/collectives/reduce_scatter/reference.hpp"

namespace rankcheck::reference::reduce_scatter_v {

/// The pieces of reduce_scatter, whose blocks may have any sizes.
inline constexpr Reference reference = reduce_scatter::reference;

}  // namespace rankcheck::reference::reduce_scatter_v
