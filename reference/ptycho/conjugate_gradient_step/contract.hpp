#pragma once

#include "reference/ptycho/step.hpp"

namespace rankcheck::reference {

/// The line search halves the length of a step from 1 down to 2^-line_search_halvings.
inline constexpr int line_search_halvings = 60;

namespace conjugate_gradient_step {

/// One step of nonlinear conjugate gradients on all frames of all ranks: first of the object, then
/// of the probe at the object's new value. f is the cost of gaussian_gradients. g is its gradient
/// with respect to the block x that moves. Both are taken at the current object and probe.
///
/// Direction. d_old and g_old are the block's inputs, <a, b> = sum of a conj(b) over the whole
/// block, |g|^2 = <g, g> and D = Re<d_old, g - g_old>:
/// - d = -g unless D > 0; so in a first step, whose d_old is 0;
/// - otherwise d = -g + (|g|^2 / D) d_old, but d = -g unless Re<g, d> < 0.
///
/// Length. The largest of 1, 1/2, 1/4 ... 2^-line_search_halvings for which f(x + length d) <=
/// f(x), or 0 if there is none. Then x' = x + length d. If the length is 0, x' has the same bits as
/// x.
///
/// The outputs include the gradients and directions of both blocks as this step used them, even if
/// the length is 0. They are the inputs of the next step. step_lengths are the object's and the
/// probe's. The cost is the one before the step. The sums that steer the step are over all ranks
/// and the same on every rank. So the step does not depend on how the positions are shared out, and
/// replicas stay equal.
inline spec::Contract contract() {
  using spec::Array;
  spec::Contract contract =
      step_contract("conjugate_gradient_step",
                    "Makes a conjugate gradient step of object and probe on all ranks' frames and "
                    "returns the cost.",
                    "d = -g + d_old |g|^2 / Re<d_old, g - g_old>; x' = x + s d, s the first of 1, "
                    "1/2, 1/4 ... with f(x + s d) <= f(x); object, then probe",
                    "tike solvers.cgrad and opt.conjugate_gradient; Dai, Yuan 1999; PR #72 without "
                    "its restart in every call",
                    {Array::object_gradient,
                     Array::object_direction,
                     Array::probe_gradient,
                     Array::probe_direction});
  ptycho(contract).outputs.push_back(Array::step_lengths);
  return contract;
}

}  // namespace conjugate_gradient_step

}  // namespace rankcheck::reference
