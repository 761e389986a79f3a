#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::propagate {

/// From the object to the detector: the unitary two-dimensional Fourier transform of every frame of
/// waves, D × D pixels. The exponent has a minus, the zero frequency is at [0, 0], and nothing is
/// shifted. The frames of all operators are square. A reader of other frames pads them with pixels
/// that count as not measured.
inline spec::Contract contract() {
  return {
      .name = "propagate",
      .summary = "Computes the unitary Fourier transform of the waves of every position and mode.",
      .formula = "F[k, l] = 1/D sum over p and q of wave[p, q] exp(-2 pi i (k p + l q) / D)",
      .source = "tike operators.Propagation.fwd, norm 'ortho'",
      .part = spec::OperatorTraits{.inputs = {spec::Array::waves},
                                   .outputs = {spec::Array::far_waves},
                                   .linear_in = {spec::Array::waves}}};
}

}  // namespace rankcheck::reference::propagate
