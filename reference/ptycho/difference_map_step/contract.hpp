#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference {

/// Length of a step as a share of the classic difference map's step, whose value is 1. A shorter
/// step converges almost as fast on frames without noise. With noise there is no solution, and a
/// shorter step wanders less. After 30 iterations, a measured Siemens star has a cost of 0.022 with
/// 1 and 0.017 with 0.625.
inline constexpr double difference_map_beta = 0.625;

namespace difference_map_step {

/// One step of the difference map on all frames of all ranks at once. It starts from exit waves w,
/// one for each position n and mode m. They cover the whole frame and need not be zero around the
/// window.
///
/// The overlap projection P_O fits object and probe to the waves, in one sweep. Sums are over all
/// positions of all ranks. D is the weight that object_preconditioner makes of the old probe, E the
/// weight that probe_preconditioner makes of the new object:
/// - first the object, with the old probe: o' = insert(sum over m of conj(P_m) w_m) / D;
/// - then the probe, with the new object: P_m' = (sum over n of conj(extract(o')) w_m) / E;
/// - a pixel with D = 0 or E = 0 stays unchanged;
/// - P_O w = extract(o') P_m' in the window, 0 around it.
/// Only the values in the window enter the sums.
///
/// The frame projection P_F gives waves the measured amplitudes. Let F = propagate(x) be the far
/// waves of any waves x, I = sum over the modes of |F|^2, and d the frame:
/// - F* = sqrt(d/I) F if a pixel is measured and I > 0, 0 if it is measured and I = 0, and F if it
///   is not measured;
/// - P_F x = propagate_inverse(F*), on the whole frame.
///
/// w' = w + b (P_F(2 P_O w - w) - P_O w) with b = difference_map_beta. If no wave changes, P_O w
/// has the measured amplitudes in all measured pixels in which the far waves of 2 P_O w - w are not
/// zero. Then o' and P' are a solution. If all positions are whole pixels, the true object and
/// probe with their own waves are such a fixed point. Between pixels, the object is smoothed a
/// little, because insert() does not undo extract().
///
/// The cost is gaussian_cost's for the old object and probe, as in all steps. The old waves have no
/// influence on it.
inline spec::Contract contract() {
  return {
      .name = "difference_map_step",
      .summary =
          "Makes a difference map step of all ranks' exit waves, object and probe and returns the "
          "cost.",
      .formula =
          "o' = insert(sum over m of conj(P) w) / D; P' = (sum over n of conj(extract(o')) w) / E; "
          "P_O w = extract(o') P'; w' = w + b (P_F(2 P_O w - w) - P_O w)",
      .source = "Elser 2003; Thibault, Dierolf, Bunk, Menzel, Pfeiffer 2009",
      .ranks_agree = true,
      .part = spec::OperatorTraits{.inputs = {spec::Array::object,
                                              spec::Array::probe,
                                              spec::Array::exit_waves,
                                              spec::Array::positions,
                                              spec::Array::frames,
                                              spec::Array::mask},
                                   .outputs = {spec::Array::cost,
                                               spec::Array::object,
                                               spec::Array::probe,
                                               spec::Array::exit_waves},
                                   .shares_probe = true}};
}

}  // namespace difference_map_step

}  // namespace rankcheck::reference
