#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::propagate_fresnel {

/// Free space by its angular spectrum: every plane wave gets the phase of the distance z along the
/// beam. z is in object pixels. Waves that are too fine for the wavelength decay, for either sign
/// of z. f_k is the frequency of index k in cycles per pixel: k/D if k/D is below 1/2, otherwise
/// k/D - 1. The frame is periodic. Implementations must compute h in double precision and then
/// round it, because its phases are many turns.
inline spec::Contract contract() {
  return {
      .name = "propagate_fresnel",
      .summary = "Propagates the waves of every position and mode over a distance in free space.",
      .formula =
          "out = F^-1(h F(wave)), h[k, l] = exp(2 pi i z sqrt(1/lambda^2 - f_k^2 - f_l^2)), "
          "beyond 1/lambda exp(-2 pi |z| sqrt(f_k^2 + f_l^2 - 1/lambda^2))",
      .source = "tike operators.FresnelSpectProp, but with a grid that is not half a bin off",
      .part = spec::OperatorTraits{.inputs = {spec::Array::waves},
                                   .outputs = {spec::Array::waves},
                                   .linear_in = {spec::Array::waves},
                                   .in_free_space = true}};
}

}  // namespace rankcheck::reference::propagate_fresnel
