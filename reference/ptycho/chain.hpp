#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference {

/// The chain of operators from object and probe to the cost, and back to the gradients by both:
/// illuminate, propagate, the given cost, propagate_inverse, and the adjoints of illuminate.
/// Needs object, probe, positions, frames and mask; makes cost, object and probe.
void gradients(const Setting& in, Operator cost, Setting& out);

}  // namespace rankcheck::reference
