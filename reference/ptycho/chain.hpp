#pragma once

#include <initializer_list>

#include "reference/ptycho/bounded_array.hpp"

/// The chain of operators from object and probe to the cost, and back to the gradients of the cost
/// with respect to both.
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

}  // namespace rankcheck::reference
