#pragma once

#include "reference/ptycho/step.hpp"

namespace rankcheck::reference::gaussian_gradients {

/// The cost of a model of amplitudes, and its gradients. Let F be the far waves of every position
/// and mode (multislice, then propagate), I = sum over the modes of |F|^2, and d the frame. The
/// cost is a sum over all measured pixels of all ranks' frames. The gradients are derivatives with
/// respect to the conjugates, so that the cost changes by 2 Re<gradient, change>. A pixel with I =
/// 0 adds nothing to the gradients. The results are sums, never means: they do not depend on how
/// the positions are shared out.
inline spec::Contract contract() {
  spec::Contract contract = frames_contract(
      "gaussian_gradients",
      "Computes the amplitude cost of all ranks' frames and its gradients in object and probe.",
      "cost = sum of (sqrt(I) - sqrt(d))^2; G = (1 - sqrt(d/I)) F; object = "
      "multislice_adjoint_object(propagate_inverse(G)), probe alike",
      "tike objective.gaussian; the gather-sum-scatter of tike PR #72");
  ptycho(contract).multislice = true;
  return contract;
}

}  // namespace rankcheck::reference::gaussian_gradients
