#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::multislice {

/// The waves behind an object of several slices at every scan position. The probe p_0 meets the
/// first slice's window, as extract takes it. The waves that leave a slice travel the scene's
/// distance in free space, as propagate_fresnel does for frames of the window's width. Then they
/// meet the next slice's window. Around the window the waves are zero. The operation is
/// multilinear: linear in the probe, and linear in each slice if the others stay fixed. With one
/// slice it equals illuminate.
inline spec::Contract contract() {
  return {.name = "multislice",
          .summary = "Computes the waves after a stack of slices with free space between them.",
          .formula =
              "e_s = patch(o_s) p_s; p_0 = probe, p_s = propagate_fresnel(e_(s-1)); out = the "
              "last e",
          .source = "tike operators.Multislice.fwd, with propagate_fresnel's grid",
          .part = spec::OperatorTraits{
              .inputs = {spec::Array::object, spec::Array::probe, spec::Array::positions},
              .outputs = {spec::Array::waves},
              .linear_in = {spec::Array::probe},
              .multislice = true}};
}

}  // namespace rankcheck::reference::multislice
