#pragma once

#include "harness/operation.hpp"

/// Laws of operations on lists of arrays. All calls get exact inputs and must leave the same bits.
namespace rankcheck::cases {

/// An operation on a list equals one call of the plain operation for each array.
[[nodiscard]] harness::Property equals_calls_one_by_one();

/// Packs of one element, packs that the algorithm chooses, and one pack that is larger than the
/// list all leave what the algorithm under test leaves. The backend chooses the algorithms of the
/// other calls.
[[nodiscard]] harness::Property is_independent_of_packing();

}  // namespace rankcheck::cases
