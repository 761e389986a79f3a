#pragma once

#include <vector>

#include "harness/check/operation.hpp"

/// Properties of the steps of solvers, which compute a new object and a new probe. Properties of
/// single solvers are in files of their own, for example lsqml_properties.hpp.
namespace rankcheck::cases {

/// If the frames are those of object and probe, a step changes both only by rounding errors.
/// keeps_the_truth_on_whole_pixels() is for steps that fit the object to its patches: with
/// interpolation, such a fit is exact only at whole pixels.
[[nodiscard]] harness::Property keeps_the_truth();
[[nodiscard]] harness::Property keeps_the_truth_on_whole_pixels();

/// Takes three steps in a row, each from the state that the step before left. The second step sees
/// the same frames, the third step sees other frames at other positions. Each step is judged
/// against the reference of its own start, so that bounds do not grow from step to step.
[[nodiscard]] harness::Property takes_further_steps();

/// If the frames are those of object and probe, a step agrees with the reference.
[[nodiscard]] harness::Property step_agrees_at_the_truth();

/// The frames have twice the amplitudes that object and probe make, at whole pixels, and all pixels
/// are measured. Then the residual waves are the waves of object and probe themselves. The object's
/// gradient is -D o and the probe's is -E P, with the weights D and E of object_preconditioner and
/// probe_preconditioner. So the new object and probe are known in closed form; for conjugate
/// gradients, only the object's gradient is. Unlike at the truth, where a step may have any length,
/// nothing is 0.
[[nodiscard]] harness::Property grows_as_its_light_does();

/// rPIE takes the same step as ePIE, but with other divisors: ((1-a) D + a max D) instead of max D,
/// for the object and for the probe.
[[nodiscard]] harness::Property is_epie_with_other_divisors();

/// The properties of every step: it agrees with the reference, is deterministic, and does not
/// depend on the distribution and order of the positions.
[[nodiscard]] std::vector<harness::Property> step_properties();

/// step_properties(), and the properties of steps that divide by the light of all positions. Such
/// steps follow their inputs under all symmetries, and repeated positions make no difference.
[[nodiscard]] std::vector<harness::Property> weighted_step_properties();

}  // namespace rankcheck::cases
