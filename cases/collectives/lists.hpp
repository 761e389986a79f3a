#pragma once

#include "harness/check/operation.hpp"

/// Properties of operations on lists of arrays. All calls get exact inputs and must leave the same
/// bits.
namespace rankcheck::cases {

/// An operation on a list equals one call of the plain operation for each array.
[[nodiscard]] harness::Property equals_calls_one_by_one();

/// The call leaves the same as three other calls: with packs of one element, without a given size
/// of packs, and with one pack that is larger than the list. The backend chooses the algorithms of
/// these three calls, because not every algorithm has packs.
[[nodiscard]] harness::Property is_independent_of_packing();

}  // namespace rankcheck::cases
