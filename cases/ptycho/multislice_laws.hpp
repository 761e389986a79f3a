#pragma once

#include "harness/operation.hpp"

/// What holds for waves that meet one slice of an object after another.
namespace rankcheck::cases {

/// <F o, y> = <o_s, (F* y)_s> for every single slice s: of an operator that is linear in each of S
/// slices no adjoint of all of them together exists, and the sum over s is S times <F o, y>.
[[nodiscard]] harness::Property has_adjoint_in_each_slice();

/// One slice: the same as illuminate.
[[nodiscard]] harness::Property is_illuminate_for_one_slice();

/// Without a distance between the slices their windows are multiplied, in whatever order.
[[nodiscard]] harness::Property is_product_without_distance();

/// F(s o) = s^S F(o) for S slices.
[[nodiscard]] harness::Property has_degree_of_its_slices();

}  // namespace rankcheck::cases
