#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::difference_map_step {

/// Makes the outputs of the contract from its inputs.
void reference(const Setting& in, Setting& out);

}  // namespace rankcheck::reference::difference_map_step
