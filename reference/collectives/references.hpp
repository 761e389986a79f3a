#pragma once

#include "reference/collectives/piece.hpp"

/// Declares the reference of each operation, in the operation's namespace:
///
///     namespace all_gather {
///     void reference(const spec::Call& call, int rank, std::vector<Piece>& pieces);
///     }
#include "collectives_references.inc"
