#pragma once

#include "reference/spec/contract.hpp"

namespace rankcheck::reference {

/// The share of the classic difference map's step, whose value is 1, that a step goes. With less,
/// waves come almost as fast to frames without noise and wander less where noise leaves no
/// solution: after 30 iterations, a measured Siemens star has a cost of 0.022 with 1 and 0.017 with
/// this.
inline constexpr double difference_map_beta = 0.625;

namespace difference_map_step {

/// One step of the difference map on all frames of all ranks at once. It goes on from exit waves w,
/// one for each position n and mode m on the whole frame, which need not be zero around the window.
///
/// The overlap projection P_O fits object and probe to the waves, in one sweep. Sums are over all
/// positions of all ranks; D is the weight that object_preconditioner makes of the old probe, E the
/// one that probe_preconditioner makes of the new object:
/// - first the object, with the old probe: o' = insert(sum over m of conj(P_m) w_m) / D;
/// - then the probe, with the new object: P_m' = (sum over n of conj(extract(o')) w_m) / E;
/// - where D or E is 0 the pixel stays as it was;
/// - P_O w = extract(o') P_m' in the window, 0 around it.
/// Only what lies in the window enters the sums.
///
/// The frame projection P_F gives waves the measured amplitudes. With the far waves F =
/// propagate(x) of any waves x, I = sum over the modes of |F|^2 and d the frame:
/// - F* = sqrt(d/I) F where a pixel is measured and I > 0, 0 where it is measured and I = 0, F
///   where it is not measured;
/// - P_F x = propagate_inverse(F*), on the whole frame.
///
/// w' = w + b (P_F(2 P_O w - w) - P_O w) with b = difference_map_beta. Where no wave changes, P_O w
/// has the measured amplitudes in all measured pixels that 2 P_O w - w lights: o' and P' then are a
/// solution. At whole pixels, the true object and probe with their own waves are such a fixed
/// point. Between pixels, the object is smoothed a little, because insert() does not undo
/// extract().
///
/// The cost is gaussian_cost's of the old object and probe, as of all steps; the old waves have no
/// part in it.
inline spec::Contract contract() {
  return {
      .name = "difference_map_step",
      .summary = "A difference map step of all ranks' exit waves, object and probe, and the cost.",
      .formula =
          "o' = insert(sum over m of conj(P) w) / D; P' = (sum over n of conj(extract(o')) w) / E; "
          "P_O w = extract(o') P'; w' = w + b (P_F(2 P_O w - w) - P_O w)",
      .source = "Elser 2003; Thibault, Dierolf, Bunk, Menzel, Pfeiffer 2009",
      .sizes = spec::Sizes::scene,
      .ranks_agree = true,
      .inputs = {spec::Array::object,
                 spec::Array::probe,
                 spec::Array::exit_waves,
                 spec::Array::positions,
                 spec::Array::frames,
                 spec::Array::mask},
      .outputs = {spec::Array::cost,
                  spec::Array::object,
                  spec::Array::probe,
                  spec::Array::exit_waves},
      .shares_probe = true,
  };
}

}  // namespace difference_map_step

}  // namespace rankcheck::reference
