#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference {

/// What rpie_step and epie_step mean. Needs object, probe, positions, frames and mask; makes cost,
/// object and probe.
void pie_step(const Setting& in, double alpha, Setting& out);

}  // namespace rankcheck::reference
