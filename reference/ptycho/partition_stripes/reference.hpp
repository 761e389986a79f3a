#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::partition_stripes {

/// Needs positions, makes owners.
void reference(const Setting& in, Setting& out);

}  // namespace rankcheck::reference::partition_stripes
