#pragma once

#include <initializer_list>

#include "reference/ptycho/field.hpp"

/// The chain of operators from object and probe to the cost, and back to the gradients by both.
namespace rankcheck::reference {

/// The same problem with some of its arrays alone: those of many frames are large.
[[nodiscard]] Setting with(const Setting& in, std::initializer_list<spec::Array> arrays);

/// Multislice, then propagate. Needs object, probe and positions; makes far_waves.
void forward(const Setting& in, Setting& out);

/// The adjoint of forward at object and probe, of waves at the detector. Needs object, probe and
/// positions; makes waves (what comes back to the object), object and probe.
void backward(const Setting& in, const Field& far_waves, Setting& out);

/// Forward, the given cost, and back with its gradient. Needs object, probe, positions, frames and
/// mask; makes cost, waves, object and probe.
void gradients(const Setting& in, Operator cost, Setting& out);

}  // namespace rankcheck::reference
