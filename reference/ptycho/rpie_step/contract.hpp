#pragma once

#include "reference/spec/contract.hpp"

namespace rankcheck::reference {

/// How much of the largest weight the regularised engine divides by.
inline constexpr double rpie_alpha = 0.05;

namespace rpie_step {

/// One step of the regularised ptychographic iterative engine on all frames of all ranks at once.
/// With the gradients g of gaussian_gradients, the weights D and E of object_preconditioner and
/// probe_preconditioner, and a = rpie_alpha. The divisors are global: the step does not depend on
/// how the positions are shared out. Where a divisor is 0 nothing changes. Unlike tike's, the
/// object's step is not divided by the number of modes, whose light D already sums.
inline spec::Contract contract() {
  return {
      .name = "rpie_step",
      .summary = "A regularised PIE step of object and probe on all ranks' frames, and the cost.",
      .formula = "o' = o - g_o / ((1-a) D + a max D); P' = P - g_P / ((1-a) E + a max E)",
      .source = "tike solvers.rpie; Maiden, Johnson, Li 2017",
      .sizes = spec::Sizes::scene,
      .ranks_agree = true,
      .inputs = {spec::Array::object,
                 spec::Array::probe,
                 spec::Array::positions,
                 spec::Array::frames,
                 spec::Array::mask},
      .outputs = {spec::Array::cost, spec::Array::object, spec::Array::probe},
      .shares_probe = true,
  };
}

}  // namespace rpie_step

}  // namespace rankcheck::reference
