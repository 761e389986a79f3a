#pragma once

#include <vector>

#include "harness/operation.hpp"

#include "cases/ptycho/derivative_laws.hpp"

/// Laws of the steps of solvers, which compute a new object and a new probe.
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

/// keeps_the_truth() for LSQML: a step goes along directions that are nothing but rounding errors,
/// as far as its lengths say. A length here is a quotient of rounding errors, so it has no bound.
[[nodiscard]] harness::Property keeps_the_truth_along_its_directions();

/// A law of LSQML. Neither the object's step nor the probe's moves the waves of mode 0 of all
/// positions by more than 4 r |chi|. Here, r is lsqml_relaxation and chi is what came back of all
/// positions. The proof is for the object, and the same for the probe. It uses the contract's
/// names, m1 = mean(a1) and c = |chi_n|. First, |x1| <= (A4 |u| c + |u| |v|^2 c) / det <=
/// 2 A4 |u| c / det, and det >= A1 A4 - a1 a4 >= A4 m1 / 2. So |x1| <= 4 |u| c / m1, and its mean
/// is at most 4 sqrt(mean(c^2) / m1). All waves move by r times this mean times sqrt(N m1).
[[nodiscard]] harness::Property moves_no_more_than_came_back();

/// rPIE takes the same step as ePIE, but with other divisors: ((1-a) D + a max D) instead of max D,
/// for the object and for the probe.
[[nodiscard]] harness::Property is_epie_with_other_divisors();

/// The line search never raises the cost: the cost of the new state, computed again, is at most the
/// cost of the old state.
template <NoiseModel noise>
[[nodiscard]] harness::Property never_raises_the_cost();

/// Object and probe move by their step lengths along the directions that the step outputs. The
/// lengths are powers of two, as a search by halving finds them.
[[nodiscard]] harness::Property goes_along_its_directions();

/// A law of the difference map. The frames have twice the amplitudes that object and probe make, at
/// whole pixels, and all pixels are measured. The exit waves w are those of object and probe. Then
/// object and probe stay, and w becomes (1 + beta) w.
[[nodiscard]] harness::Property waves_grow_by_beta();

/// A law of the difference map, for any start. The waves of the new object and probe, plus the
/// change of the exit waves divided by beta, have the measured amplitudes at all lit pixels. So
/// object and probe make the frames if no exit wave changes.
[[nodiscard]] harness::Property fixed_points_are_solutions();

/// The properties of every step: it agrees with the reference, is deterministic, and does not
/// depend on the distribution and order of the positions.
[[nodiscard]] std::vector<harness::Property> step_properties();

/// step_properties(), and the properties of steps that divide by the light of all positions. Such
/// steps follow their inputs under all symmetries, and repeated positions make no difference.
[[nodiscard]] std::vector<harness::Property> weighted_step_properties();

/// step_properties(), and the properties of conjugate gradient steps for either cost.
template <NoiseModel noise>
[[nodiscard]] std::vector<harness::Property> conjugate_gradient_properties();

}  // namespace rankcheck::cases
