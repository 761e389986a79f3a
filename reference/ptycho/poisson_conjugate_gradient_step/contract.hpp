#pragma once

#include "reference/ptycho/conjugate_gradient_step/contract.hpp"

namespace rankcheck::reference::poisson_conjugate_gradient_step {

/// Like conjugate_gradient_step, but f is the cost of poisson_gradients and g its gradient.
inline spec::Contract contract() {
  spec::Contract contract = conjugate_gradient_step::contract();
  contract.name = "poisson_conjugate_gradient_step";
  contract.summary =
      "Makes a conjugate gradient step of object and probe for the Poisson cost and returns the "
      "cost.";
  contract.source =
      "tike solvers.cgrad with noise_model poisson; otherwise as conjugate_gradient_step";
  return contract;
}

}  // namespace rankcheck::reference::poisson_conjugate_gradient_step
