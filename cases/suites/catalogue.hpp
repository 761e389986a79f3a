#pragma once

#include "harness/check/operation.hpp"

namespace rankcheck::cases {

/// Returns every operation with its contract and the properties that it claims, sorted by name.
[[nodiscard]] harness::Catalogue make_catalogue();

}  // namespace rankcheck::cases
