#pragma once

#include "harness/check/operation.hpp"

/// Properties of waves that pass one slice of an object after another.
namespace rankcheck::cases {

/// <F o, y> = <o_s, (F* y)_s> for every single slice s. An operator that is linear in each of S
/// slices has no adjoint in all slices together: the sum over s is S times <F o, y>.
[[nodiscard]] harness::Property has_adjoint_in_each_slice();

/// With one slice, multislice is the same as illuminate.
[[nodiscard]] harness::Property is_illuminate_for_one_slice();

/// Without a distance between the slices, the waves are multiplied by the windows of all slices.
[[nodiscard]] harness::Property is_product_without_distance();

/// F(s o) = s^S F(o) for S slices.
[[nodiscard]] harness::Property has_degree_of_its_slices();

}  // namespace rankcheck::cases
