#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::propagate_fresnel_adjoint {

/// The adjoint of propagate_fresnel: the same with conj(h). It is the inverse only if no wave
/// decays.
inline spec::Contract contract() {
  return {
      .name = "propagate_fresnel_adjoint",
      .summary = "Applies the adjoint of propagation in free space, which conjugates the phases.",
      .formula = "out = F^-1(conj(h) F(wave)), h as for propagate_fresnel",
      .source = "tike operators.FresnelSpectProp.adj",
      .part = spec::OperatorTraits{.inputs = {spec::Array::waves},
                                   .outputs = {spec::Array::waves},
                                   .linear_in = {spec::Array::waves},
                                   .in_free_space = true}};
}

}  // namespace rankcheck::reference::propagate_fresnel_adjoint
