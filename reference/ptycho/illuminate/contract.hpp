#pragma once

#include "reference/spec/contract.hpp"

namespace rankcheck::reference::illuminate {

/// What leaves the object behind every scan position: its window, as extract takes it, times every
/// mode of the probe. Around the window the waves are zero. Bilinear: linear in the object for a
/// given probe, and the other way round. No bit of a position's waves depends on the other
/// positions, on their order or number: the same numbers are rounded in the same way.
inline spec::Contract contract() {
  return {
      .name = "illuminate",
      .summary = "The window of the object at every scan position times the modes of the probe.",
      .formula = "wave_m[p, q] = patch[p, q] probe_m[p, q]",
      .source = "tike operators.Convolution.fwd",
      .sizes = spec::Sizes::scene,
      .inputs = {spec::Array::object, spec::Array::probe, spec::Array::positions},
      .outputs = {spec::Array::waves},
      .linear_in = {spec::Array::object, spec::Array::probe},
      .exact_on_whole_numbers = true,
  };
}

}  // namespace rankcheck::reference::illuminate
