#pragma once

#include "harness/operation.hpp"

namespace rankcheck::cases {

/// Every output of every rank is what the reference says: bits where the inputs make every order
/// exact, else within the a-priori bound.
[[nodiscard]] harness::Property agrees_with_reference();

/// The same of three calls of one shape, each with data of its own: what a backend keeps of a call
/// that comes again must not hold on to the data.
[[nodiscard]] harness::Property repeats_with_other_data();

/// The same of three calls: of the case's group, of another group of as many members with another
/// root, and of the first one again. A communicator that a backend keeps for the first must not
/// serve the second.
[[nodiscard]] harness::Property keeps_groups_apart();

}  // namespace rankcheck::cases
