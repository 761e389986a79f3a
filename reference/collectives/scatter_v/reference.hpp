#pragma once

#include "reference/collectives/piece.hpp"
#include "reference/collectives/scatter/reference.hpp"

namespace rankcheck::reference::scatter_v {

/// The pieces of scatter, whose blocks may have any sizes.
inline constexpr Reference reference = scatter::reference;

}  // namespace rankcheck::reference::scatter_v
