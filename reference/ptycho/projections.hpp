#pragma once

#include "reference/ptycho/bounded_array.hpp"

/// Parts of the steps that project waves instead of following gradients.
namespace rankcheck::reference {

/// numerator / weight, value by value; the value of `before` if the weight is 0. All modes share
/// the weight.
[[nodiscard]] BoundedArray fitted(const BoundedArray& before,
                                  const BoundedArray& numerator,
                                  const BoundedArray& weight,
                                  double unit);

/// Gives the far waves the measured amplitudes. Waves of 0 stay 0, and unmeasured pixels stay
/// unchanged. Needs far_waves, frames and mask; makes far_waves and gaussian_cost's cost.
void project_on_frames(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference
