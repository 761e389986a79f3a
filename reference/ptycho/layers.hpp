#pragma once

#include <vector>

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference {

/// Splits an object of several slices into successive illuminations: the arrays of one problem for
/// each slice, with this slice as the object, and with the positions. The waves between slices are
/// as wide as the window. For every slice but the first they are a probe that varies.
[[nodiscard]] std::vector<OperatorArrays> layers_of(const OperatorArrays& in);

/// Gives every layer after the first the probe that reaches it. With `to_the_end`, also gives the
/// last layer the waves that leave it. The first layer must already have its probe.
void illuminate_layers(std::vector<OperatorArrays>& layers, bool to_the_end);

/// Gives every layer the waves that come back behind it. The last layer must already have them.
void bring_back(std::vector<OperatorArrays>& layers);

}  // namespace rankcheck::reference
