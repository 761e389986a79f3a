#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::propagate_inverse {

/// From the detector back to the object: the inverse of propagate, which is also its adjoint. The
/// whole frame is transformed and the whole result is kept, including the pixels around the window.
inline spec::Contract contract() {
  return {.name = "propagate_inverse",
          .summary = "Computes the unitary inverse Fourier transform of the waves at the detector.",
          .formula = "wave[p, q] = 1/D sum over k and l of F[k, l] exp(2 pi i (k p + l q) / D)",
          .source = "tike operators.Propagation.adj, norm 'ortho'",
          .part = spec::OperatorTraits{.inputs = {spec::Array::far_waves},
                                       .outputs = {spec::Array::waves},
                                       .linear_in = {spec::Array::far_waves}}};
}

}  // namespace rankcheck::reference::propagate_inverse
