#pragma once

#include "reference/spec/contract.hpp"

namespace rankcheck::reference::alternating_projections_step {

/// One step of alternating projections on all frames of all ranks at once: the waves that object
/// and probe make are given the measured amplitudes, and object and probe are fitted to them. No
/// exit waves are kept from step to step; difference_map_step keeps them. With the far waves F of
/// every position and mode, I = sum over the modes of |F|^2 and d the frame:
/// - F* = sqrt(d/I) F where a pixel is measured and I > 0, 0 where it is measured and I = 0, F
///   where it is not measured; x is the window of propagate_inverse(F*);
/// - o' = insert(sum over m of conj(P_m) x_m) / D and P_m' = (sum over n of conj(extract(o)) x_m) /
///   E, with the old object and probe on the right and the weights D of object_preconditioner and
///   E of probe_preconditioner; unlike tike's there is no 1e-9 beside D and E;
/// - where D or E is 0 the pixel stays as it was.
/// The cost is gaussian_cost's, before the step.
inline spec::Contract contract() {
  return {
      .name = "alternating_projections_step",
      .summary = "A step of alternating projections on all ranks' frames, and the cost.",
      .formula =
          "x = propagate_inverse(sqrt(d/I) F); o' = insert(sum over m of conj(P) x) / D; "
          "P' = (sum over n of conj(extract(o)) x) / E",
      .source = "tike solvers.dm, without exit waves that are remembered; Thibault et al. 2009",
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

}  // namespace rankcheck::reference::alternating_projections_step
