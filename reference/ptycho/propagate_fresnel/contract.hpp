#pragma once

#include "reference/spec/contract.hpp"

namespace rankcheck::reference::propagate_fresnel {

/// Free space by its angular spectrum: every plane wave gets the phase of the distance z along the
/// beam, in object pixels; those too fine for the wavelength decay, whichever way z points. f are
/// the cycles per pixel of a transform's index k, k/D below 1/2 and k/D - 1 from there; the frame
/// is periodic. h is to be made in double precision and then rounded: its phases are many turns.
inline spec::Contract contract() {
  return {
      .name = "propagate_fresnel",
      .summary = "The waves of every position and mode after a distance in free space.",
      .formula =
          "out = F^-1(h F(wave)), h[k, l] = exp(2 pi i z sqrt(1/lambda^2 - f_k^2 - f_l^2)), "
          "beyond 1/lambda exp(-2 pi |z| sqrt(f_k^2 + f_l^2 - 1/lambda^2))",
      .source = "tike operators.FresnelSpectProp, without its grid half a bin off",
      .sizes = spec::Sizes::scene,
      .inputs = {spec::Array::waves},
      .outputs = {spec::Array::waves},
      .linear_in = {spec::Array::waves},
      .in_free_space = true,
  };
}

}  // namespace rankcheck::reference::propagate_fresnel
