#pragma once

#include <vector>

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference {

/// An object of several slices as one illumination after another: for each slice a setting with
/// its slice as the object and the positions. The waves between slices are as wide as the window;
/// to all slices but the first they are a probe that varies.
[[nodiscard]] std::vector<Setting> layers_of(const Setting& in);

/// Gives every layer the probe that reaches it, and the last one, where it asks for them, the waves
/// that leave it. The first one has its probe.
void illuminate_layers(std::vector<Setting>& layers, bool to_the_end);

/// Gives every layer the waves that come back behind it; the last one has its own.
void bring_back(std::vector<Setting>& layers);

}  // namespace rankcheck::reference
