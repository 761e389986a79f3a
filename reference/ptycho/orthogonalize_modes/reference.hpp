#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::orthogonalize_modes {

/// Needs the probe, makes it anew. The errors are infinite: values have a meaning only up to phases
/// and mixtures of equally strong modes.
void reference(const Setting& in, Setting& out);

}  // namespace rankcheck::reference::orthogonalize_modes
