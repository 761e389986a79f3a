#pragma once

#include <initializer_list>

#include "reference/ptycho/bounded_array.hpp"

/// The chain of operators from object and probe to the cost, and back to the gradients of the cost
/// with respect to both. Also the parts of steps that project waves instead of following gradients.
namespace rankcheck::reference {

/// Copies the problem with only some of its arrays: the arrays of many frames are large.
[[nodiscard]] OperatorArrays with(const OperatorArrays& in,
                                  std::initializer_list<spec::Array> arrays);

/// Applies multislice, then propagate. Needs object, probe and positions; makes far_waves.
void forward(const OperatorArrays& in, OperatorArrays& out);

/// Applies the adjoint of forward, linearised at object and probe, to waves at the detector. Needs
/// object, probe and positions. Makes waves (the waves that come back to the object), object and
/// probe.
void backward(const OperatorArrays& in, const BoundedArray& far_waves, OperatorArrays& out);

/// Applies forward, then `cost`, then backward to the gradient of the cost. Needs object, probe,
/// positions, frames and mask; makes cost, waves, object and probe.
void gradients(const OperatorArrays& in, Operator cost, OperatorArrays& out);

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
