#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::gaussian_gradients {

/// The cost of a model of amplitudes, and its gradients. Let F be the far waves of every position
/// and mode (multislice, then propagate), I = sum over the modes of |F|^2, and d the frame. The
/// cost is a sum over all measured pixels of all ranks' frames. The gradients are derivatives with
/// respect to the conjugates, so that the cost changes by 2 Re<gradient, change>. A pixel with I =
/// 0 adds nothing to the gradients. The results are sums, never means: they do not depend on how
/// the positions are shared out.
inline spec::Contract contract() {
  return {
      .name = "gaussian_gradients",
      .summary =
          "Computes the amplitude cost of all ranks' frames and its gradients in object and probe.",
      .formula =
          "cost = sum of (sqrt(I) - sqrt(d))^2; G = (1 - sqrt(d/I)) F; "
          "object = multislice_adjoint_object(propagate_inverse(G)), probe alike",
      .source = "tike objective.gaussian; the gather-sum-scatter of tike PR #72",
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

}  // namespace rankcheck::reference::gaussian_gradients
