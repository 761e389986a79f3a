#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::crop {

/// Needs patches, makes windows.
void reference(const Setting& in, Setting& out);

}  // namespace rankcheck::reference::crop
