#pragma once

#include "reference/ptycho/bounded_array.hpp"

/// Declares the reference of each operation, in the operation's namespace:
///
///     namespace crop {
///     void reference(const OperatorArrays& in, OperatorArrays& out);
///     }
#include "ptycho_references.inc"
