#pragma once

#include <vector>

#include "reference/collectives/piece.hpp"
#include "reference/spec/contract.hpp"

namespace rankcheck::reference {

/// What a collective means: the shape of its buffers and their values.
struct Collective {
  spec::Contract contract;
  Reference reference;
};

/// All collectives, sorted by name. Generated from the folders beside this file.
[[nodiscard]] const std::vector<Collective>& collectives();

}  // namespace rankcheck::reference
