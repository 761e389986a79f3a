#pragma once

#include "reference/spec/contract.hpp"

namespace rankcheck::reference::multislice {

/// What leaves an object of several slices behind every scan position. The probe p_0 meets the
/// first slice's window, as extract takes it; what leaves a slice travels the scene's distance in
/// free space, as propagate_fresnel says for frames of the window's width, and meets the next
/// slice's window. Around the window the waves are zero. Multilinear: linear in the probe, and in
/// each slice as long as the others stay what they are. One slice: illuminate.
inline spec::Contract contract() {
  return {
      .name = "multislice",
      .summary = "The waves behind a stack of slices with free space between them.",
      .formula =
          "e_s = patch(o_s) p_s; p_0 = probe, p_s = propagate_fresnel(e_(s-1)); out = the "
          "last e",
      .source = "tike operators.Multislice.fwd, with propagate_fresnel's grid",
      .sizes = spec::Sizes::scene,
      .inputs = {spec::Array::object, spec::Array::probe, spec::Array::positions},
      .outputs = {spec::Array::waves},
      .linear_in = {spec::Array::probe},
      .multislice = true,
  };
}

}  // namespace rankcheck::reference::multislice
