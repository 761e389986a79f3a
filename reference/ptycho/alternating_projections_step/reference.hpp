#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::alternating_projections_step {

/// Makes the outputs of the contract from its inputs.
void reference(const Setting& in, Setting& out);

}  // namespace rankcheck::reference::alternating_projections_step
