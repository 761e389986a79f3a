#pragma once

#include "reference/ptycho/step.hpp"

namespace rankcheck::reference {

/// The share of the last direction that a step of momentum adds to its own.
inline constexpr double momentum_beta = 0.9;

namespace momentum_step {

/// One step of the extended ptychographic iterative engine with momentum on all frames of all ranks
/// at once. b = momentum_beta. d_o and d_P are the directions of the step before, and 0 in a first
/// step, which is therefore epie_step. g, D and E are those of rpie_step. They are sums over all
/// ranks, so every rank keeps the same directions. If max D is 0, so is g_o, and the direction is
/// b d_o; the same holds for the probe. The new directions are outputs and the inputs of the next
/// step.
inline spec::Contract contract() {
  return step_contract(
      "momentum_step",
      "Makes an extended PIE step with momentum of object and probe on all ranks' frames and "
      "returns the cost.",
      "d_o' = b d_o - g_o / max D; o' = o + d_o'; d_P' = b d_P - g_P / max E; P' = P + d_P'",
      "FluxMPI DistributedOptimizer around Flux Momentum; Polyak 1964; Maiden, Rodenburg 2009",
      {spec::Array::object_direction, spec::Array::probe_direction});
}

}  // namespace momentum_step

}  // namespace rankcheck::reference
