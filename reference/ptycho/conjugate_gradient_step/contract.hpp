#pragma once

#include "reference/spec/contract.hpp"

namespace rankcheck::reference {

/// The line search halves the length of a step from 1 down to 2^-line_search_halvings.
inline constexpr int line_search_halvings = 60;

namespace conjugate_gradient_step {

/// One step of nonlinear conjugate gradients on all frames of all ranks: of the object, then of the
/// probe at the object's new value. f is the cost of gaussian_gradients and g its gradient by the
/// block x that moves, both at what object and probe then are.
///
/// Direction. With d_old, g_old the block's inputs, <a, b> = sum of a conj(b) over the whole block,
/// |g|^2 = <g, g> and D = Re<d_old, g - g_old>:
/// - d = -g where not D > 0, as in a first step, whose d_old is 0;
/// - else d = -g + (|g|^2 / D) d_old, but -g again where not Re<g, d> < 0.
///
/// Length. The largest of 1, 1/2, 1/4 ... 2^-line_search_halvings for which f(x + length d) <=
/// f(x), or 0 where there is none; x' = x + length d, and x' = x bit by bit where the length is 0.
///
/// The gradients and directions of both blocks come out as this step used them (the direction also
/// where the length is 0), to go into the next one; step_lengths are the object's and the probe's.
/// The cost is the one before the step. Sums over all ranks steer the step, the same ones on every
/// rank: it does not depend on how the positions are shared out, and replicas stay equal.
inline spec::Contract contract() {
  return {
      .name = "conjugate_gradient_step",
      .summary =
          "A conjugate gradient step of object and probe on all ranks' frames, and the "
          "cost.",
      .formula =
          "d = -g + d_old |g|^2 / Re<d_old, g - g_old>; x' = x + s d, s the first of 1, "
          "1/2, 1/4 ... with f(x + s d) <= f(x); object, then probe",
      .source =
          "tike solvers.cgrad and opt.conjugate_gradient; Dai, Yuan 1999; PR #72 without its "
          "restart in every call",
      .sizes = spec::Sizes::scene,
      .ranks_agree = true,
      .inputs = {spec::Array::object,
                 spec::Array::probe,
                 spec::Array::positions,
                 spec::Array::frames,
                 spec::Array::mask,
                 spec::Array::object_gradient,
                 spec::Array::object_direction,
                 spec::Array::probe_gradient,
                 spec::Array::probe_direction},
      .outputs = {spec::Array::cost,
                  spec::Array::object,
                  spec::Array::probe,
                  spec::Array::object_gradient,
                  spec::Array::object_direction,
                  spec::Array::probe_gradient,
                  spec::Array::probe_direction,
                  spec::Array::step_lengths},
      .shares_probe = true,
  };
}

}  // namespace conjugate_gradient_step

}  // namespace rankcheck::reference
