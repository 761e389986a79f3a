#pragma once

#include "reference/ptycho/step.hpp"

namespace rankcheck::reference {

/// The share of the largest weight in the divisor of the regularised engine's step.
inline constexpr double rpie_alpha = 0.05;

namespace rpie_step {

/// One step of the regularised ptychographic iterative engine on all frames of all ranks at once. g
/// are the gradients of gaussian_gradients, and a = rpie_alpha. D is the weight of
/// object_preconditioner, and E the weight of probe_preconditioner. The divisors are global, so the
/// step does not depend on how the positions are shared out. A value with a divisor of 0 stays
/// unchanged. tike divides the object's step by the number of modes. This contract does not,
/// because D already sums the light of all modes.
inline spec::Contract contract() {
  return step_contract(
      "rpie_step",
      "Makes a regularised PIE step of object and probe on all ranks' frames and returns the cost.",
      "o' = o - g_o / ((1-a) D + a max D); P' = P - g_P / ((1-a) E + a max E)",
      "tike solvers.rpie; Maiden, Johnson, Li 2017");
}

}  // namespace rpie_step

}  // namespace rankcheck::reference
