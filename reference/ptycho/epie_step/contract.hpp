#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::epie_step {

/// One step of the extended ptychographic iterative engine on all frames of all ranks at once:
/// rpie_step with a = 1.
inline spec::Contract contract() {
  return {
      .name = "epie_step",
      .summary =
          "Makes an extended PIE step of object and probe on all ranks' frames and returns the "
          "cost.",
      .formula = "o' = o - g_o / max D; P' = P - g_P / max E",
      .source = "Maiden, Rodenburg 2009; tike solvers.rpie with alpha = 1",
      .ranks_agree = true,
      .part =
          spec::OperatorTraits{
              .inputs = {spec::Array::object,
                         spec::Array::probe,
                         spec::Array::positions,
                         spec::Array::frames,
                         spec::Array::mask},
              .outputs = {spec::Array::cost, spec::Array::object, spec::Array::probe},
              .shares_probe = true,
          },
  };
}

}  // namespace rankcheck::reference::epie_step
