#pragma once

#include "harness/operation.hpp"

namespace rankcheck::cases {

/// Every output of every rank is what the reference says: bits where the inputs make every order
/// exact, else within the a-priori bound.
[[nodiscard]] harness::Property agrees_with_reference();

}  // namespace rankcheck::cases
