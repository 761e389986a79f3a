#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::poisson_gradients {

/// The cost of a model of counted photons, and its gradients. Everything except the cost of a pixel
/// is as in gaussian_gradients. The cost is the negative logarithm of the likelihood minus its
/// smallest value; this subtraction changes no gradient and avoids cancellation. If d is 0, d
/// log(...) is 0.
inline spec::Contract contract() {
  return {
      .name = "poisson_gradients",
      .summary =
          "Computes the Poisson cost of all ranks' frames and its gradients in object and probe.",
      .formula =
          "cost = sum of I + e - d - d log((I + e) / d), e = 1e-9; "
          "G = (1 - d / (I + e)) F; object = "
          "multislice_adjoint_object(propagate_inverse(G)), probe alike",
      .source = "tike objective.poisson; the gather-sum-scatter of tike PR #72",
      .ranks_agree = true,
      .part =
          spec::OperatorTraits{
              .inputs = {spec::Array::object,
                         spec::Array::probe,
                         spec::Array::positions,
                         spec::Array::frames,
                         spec::Array::mask},
              .outputs = {spec::Array::cost, spec::Array::object, spec::Array::probe},
              .multislice = true,
          },
  };
}

}  // namespace rankcheck::reference::poisson_gradients
