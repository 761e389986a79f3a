#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference {

/// The reference of rpie_step and epie_step. Needs object, probe, positions, frames and mask; makes
/// cost, object and probe.
void pie_step(const OperatorArrays& in, double alpha, OperatorArrays& out);

}  // namespace rankcheck::reference
