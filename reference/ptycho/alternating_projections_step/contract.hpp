#pragma once

#include "reference/ptycho/step.hpp"

namespace rankcheck::reference::alternating_projections_step {

/// One step of alternating projections on all frames of all ranks at once. The waves that object
/// and probe make are given the measured amplitudes, and object and probe are fitted to these
/// waves. No exit waves are kept from step to step; difference_map_step keeps them. Let F be the
/// far waves of every position and mode, I = sum over the modes of |F|^2, and d the frame:
/// - F* = sqrt(d/I) F if a pixel is measured and I > 0. F* is 0 if the pixel is measured and I = 0,
///   and F if it is not measured. x is the window of propagate_inverse(F*);
/// - o' = insert(sum over m of conj(P_m) x_m) / D and P_m' = (sum over n of conj(extract(o)) x_m) /
///   E. The right sides use the old object and probe. D is the weight of object_preconditioner, E
///   the weight of probe_preconditioner. tike adds 1e-9 to D and E; this contract does not;
/// - a pixel with D = 0 or E = 0 stays unchanged.
/// The cost is gaussian_cost's, before the step.
inline spec::Contract contract() {
  return step_contract(
      "alternating_projections_step",
      "Makes a step of alternating projections on all ranks' frames and returns the cost.",
      "x = propagate_inverse(sqrt(d/I) F); o' = insert(sum over m of conj(P) x) / D; P' = (sum "
      "over n of conj(extract(o)) x) / E",
      "tike solvers.dm, but without exit waves from step to step; Thibault et al. 2009");
}

}  // namespace rankcheck::reference::alternating_projections_step
