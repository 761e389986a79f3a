#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::illuminate {

/// The waves behind the object at every scan position: the object's window, as extract takes it,
/// times every mode of the probe. Around the window the waves are zero. The operation is bilinear:
/// linear in the object for a given probe, and linear in the probe for a given object. The bits of
/// a position's waves do not depend on the other positions, on their order or their number. The
/// same numbers are rounded in the same way.
inline spec::Contract contract() {
  return {
      .name = "illuminate",
      .summary =
          "Multiplies the window of the object at every scan position by the modes of the probe.",
      .formula = "wave_m[p, q] = patch[p, q] probe_m[p, q]",
      .source = "tike operators.Convolution.fwd",
      .part = spec::OperatorTraits{
          .inputs = {spec::Array::object, spec::Array::probe, spec::Array::positions},
          .outputs = {spec::Array::waves},
          .linear_in = {spec::Array::object, spec::Array::probe},
          .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::illuminate
