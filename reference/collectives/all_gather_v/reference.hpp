#pragma once

#include "reference/collectives/all_gather/reference.hpp"
#include "reference/collectives/piece.hpp"

namespace rankcheck::reference::all_gather_v {

/// The pieces of all_gather, whose blocks may have any sizes.
inline constexpr Reference reference = all_gather::reference;

}  // namespace rankcheck::reference::all_gather_v
