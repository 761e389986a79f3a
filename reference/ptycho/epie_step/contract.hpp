#pragma once

#include "reference/ptycho/step.hpp"

namespace rankcheck::reference::epie_step {

/// One step of the extended ptychographic iterative engine on all frames of all ranks at once:
/// rpie_step with a = 1.
inline spec::Contract contract() {
  return step_contract(
      "epie_step",
      "Makes an extended PIE step of object and probe on all ranks' frames and returns the cost.",
      "o' = o - g_o / max D; P' = P - g_P / max E",
      "Maiden, Rodenburg 2009; tike solvers.rpie with alpha = 1");
}

}  // namespace rankcheck::reference::epie_step
