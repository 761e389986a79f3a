#pragma once

#include "reference/collectives/gather/reference.hpp"
#include "reference/collectives/piece.hpp"

namespace rankcheck::reference::gather_v {

/// The pieces of gather, whose blocks may have any sizes.
inline constexpr Reference reference = gather::reference;

}  // namespace rankcheck::reference::gather_v
