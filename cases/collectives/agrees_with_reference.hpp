#pragma once

#include "harness/operation.hpp"

namespace rankcheck::cases {

/// Every output of every rank is what the reference says: bits where the inputs make every order
/// exact, else within the a-priori bound.
[[nodiscard]] harness::Property agrees_with_reference();

/// The same of three calls of one shape, each with data of its own: what a backend keeps of a call
/// that comes again must not hold on to the data.
[[nodiscard]] harness::Property repeats_with_other_data();

}  // namespace rankcheck::cases
