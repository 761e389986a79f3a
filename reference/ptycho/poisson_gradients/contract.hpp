#pragma once

#include "reference/ptycho/step.hpp"

namespace rankcheck::reference::poisson_gradients {

/// The cost of a model of counted photons, and its gradients. Everything except the cost of a pixel
/// is as in gaussian_gradients. The cost is the negative logarithm of the likelihood minus its
/// smallest value; this subtraction changes no gradient and avoids cancellation. If d is 0, d
/// log(...) is 0.
inline spec::Contract contract() {
  spec::Contract contract = frames_contract(
      "poisson_gradients",
      "Computes the Poisson cost of all ranks' frames and its gradients in object and probe.",
      "cost = sum of I + e - d - d log((I + e) / d), e = 1e-9; G = (1 - d / (I + e)) F; object = "
      "multislice_adjoint_object(propagate_inverse(G)), probe alike",
      "tike objective.poisson; the gather-sum-scatter of tike PR #72");
  ptycho(contract).multislice = true;
  return contract;
}

}  // namespace rankcheck::reference::poisson_gradients
