#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/check/operation.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/symmetry.hpp"

/// The properties of operators. The summary of each says what it claims; comments here say what the
/// summary leaves out.
namespace rankcheck::cases {

/// Plans one run of the case itself.
void plan_once(const spec::Contract& contract,
               const harness::Case& c,
               std::vector<harness::Case>& stages);

/// The name of an operation as a template argument.
template <std::size_t size>
struct OperationName {
  constexpr OperationName(const char (&name)[size]) { std::copy_n(name, size, text.begin()); }

  [[nodiscard]] std::string str() const { return text.data(); }

  std::array<char, size> text{};
};

/// Plans runs of other operations with the case's inputs, then of the case itself.
template <OperationName... others>
void plan_behind(const spec::Contract&,
                 const harness::Case& c,
                 std::vector<harness::Case>& stages) {
  stages.assign(sizeof...(others) + 1, c);
  std::size_t s = 0;
  for (const std::string& other : {others.str()...}) {
    stages[s].operation = other;
    stages[s++].algorithm.clear();
  }
}

/// Plans two runs: the case, then another operation with the case's inputs.
template <OperationName other>
void plan_then(const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
  stages.assign(2, c);
  stages[1].operation = other.str();
  stages[1].algorithm.clear();
}

/// plan_then(), but the other operation takes the result of the first one.
template <OperationName other>
void plan_then_on_result(const spec::Contract& contract,
                         const harness::Case& c,
                         std::vector<harness::Case>& stages) {
  plan_then<other>(contract, c, stages);
  ptycho(stages[1]).chained = true;
}

using Program = decltype(harness::Property::program);

// Any operator.

/// The bounds follow from the precision.
[[nodiscard]] harness::Property operator_agrees_with_reference();

/// The cost and its gradient are then only rounding errors.
[[nodiscard]] harness::Property agrees_at_the_truth();

/// The seed of the data chooses the array and s. Exact inputs must agree in every bit.
[[nodiscard]] harness::Property is_linear_in_each_array();

/// <F x, y> = <x, F* y> for this operator F, an array x in which it is linear, and its adjoint. The
/// adjoint is an operation whose inputs are y, the output of F, and all other inputs of F.
[[nodiscard]] harness::Property has_adjoint(std::string_view name,
                                            std::string_view summary,
                                            Program program);

/// Another operation undoes this operator F: it returns the input of F. `program` plans the two
/// stages; the second one takes the result of the first one.
[[nodiscard]] harness::Property is_undone(std::string_view name,
                                          std::string_view summary,
                                          Program program);

/// Parseval, frame by frame.
[[nodiscard]] harness::Property conserves_energy();
[[nodiscard]] harness::Property gains_no_energy();

[[nodiscard]] harness::Property is_independent_of_partition();

/// So the result does not depend on the number of ranks.
[[nodiscard]] harness::Property is_independent_of_refinement();

[[nodiscard]] harness::Property ignores_unmeasured_pixels();

// Operators whose outputs all belong to single positions.

/// How closely results that should be the same must agree.
enum class Match {
  /// The results are equal for all inputs. For operators whose contracts promise this.
  exact,
  /// The results differ by at most the sum of their bounds. For operators with Fourier transforms:
  /// FFTW uses other code for unaligned frames, and cuFFT uses another plan for another number of
  /// frames.
  bounded,
};

/// The seed of the data chooses how many positions are left out.
template <Match match>
[[nodiscard]] harness::Property takes_each_position_alone();

// Operators whose inputs are related by a symmetry of cases/families/ptycho/symmetry.hpp.

/// The kind of outputs that do not belong to single positions. They are either sums over the
/// positions, such as gradients, or the new states of the inputs with the same names, as in a step.
/// The cost is a sum in both cases.
enum class Outputs { sums, states };

/// Plans two stages. The second one is the first one under one of the symmetries, which the seed of
/// the data chooses.
void plan_transformed(std::span<const Symmetry> symmetries,
                      const harness::Case& c,
                      std::vector<harness::Case>& stages);

/// Judges whether the outputs of the second stage are the transformed outputs of the first stage.
template <Outputs outputs>
void check_transformed(const harness::Evidence& evidence, harness::Judgement& judgement);

/// The results are transformed in the same way as the inputs, for each of these symmetries. Phase
/// ramps are tested at whole pixels only. Steps are not tested if the scan reaches beyond the
/// object, because their largest weights may then lie off the object.
template <Outputs outputs, Symmetry... symmetries>
[[nodiscard]] harness::Property is_equivariant() {
  return {
      .name = "is_equivariant",
      .summary =
          "If a symmetry of the problem transforms the inputs, the results are transformed in the "
          "same way.",
      .applies =
          [](const spec::Contract&, const harness::Case& c) {
            return outputs == Outputs::sums || ptycho(c).scan != Scan::overhanging;
          },
      .program =
          [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
            plan_transformed(std::array{symmetries...}, c, stages);
          },
      .check = check_transformed<outputs>,
  };
}

/// is_equivariant() for all symmetries that leave the cost unchanged, and for `more`.
template <Outputs outputs, Symmetry... more>
[[nodiscard]] harness::Property follows_every_symmetry() {
  return is_equivariant<outputs,
                        Symmetry::turned,
                        Symmetry::stretched,
                        Symmetry::twin,
                        Symmetry::transposed,
                        Symmetry::mixed,
                        Symmetry::translated,
                        Symmetry::ramped,
                        Symmetry::reflected,
                        Symmetry::dark,
                        more...>();
}

/// Operators on square frames treat rows like columns, and both directions of an axis alike.
[[nodiscard]] inline harness::Property keeps_symmetries() {
  return is_equivariant<Outputs::sums, Symmetry::transposed, Symmetry::reflected>();
}

[[nodiscard]] harness::Property is_independent_of_order();
template <Outputs outputs>
[[nodiscard]] harness::Property counts_every_position();

/// On a raster scan, phases with the raster's period can multiply the object if the opposite phases
/// multiply the probe. The frames stay the same, so no algorithm can distinguish the two solutions.
template <Outputs outputs>
[[nodiscard]] harness::Property keeps_the_raster_ambiguity();

[[nodiscard]] harness::Property is_exact_on_bilinear_objects();

// Waves: illumination, shifts, and propagation over a distance.

[[nodiscard]] harness::Property is_patch_times_probe();
[[nodiscard]] harness::Property is_undone_by_the_way_back();
[[nodiscard]] harness::Property conserves_energy_of_short_waves();
[[nodiscard]] harness::Property adds_distances();
[[nodiscard]] harness::Property rolls_by_whole_positions();
[[nodiscard]] harness::Property is_a_phase_ramp_at_the_detector();

// Waves that pass one slice of an object after another.

/// An operator that is linear in each of S slices has no adjoint in all slices together: the sum
/// over s is S times <F o, y>.
[[nodiscard]] harness::Property has_adjoint_in_each_slice();
[[nodiscard]] harness::Property is_illuminate_for_one_slice();
[[nodiscard]] harness::Property is_product_without_distance();
[[nodiscard]] harness::Property has_degree_of_its_slices();

// Modes.

/// A single mode has no inner products.
[[nodiscard]] harness::Property makes_modes_orthogonal();
[[nodiscard]] harness::Property orders_modes_by_power();
[[nodiscard]] harness::Property keeps_the_coherence();
/// A probe that all positions share has the same bits on all ranks.
[[nodiscard]] harness::Property ranks_agree_on_shared_probes();

// Costs and their gradients.

enum class NoiseModel { gaussian, poisson };

/// The direction is one of the object or the probe.
template <NoiseModel noise>
[[nodiscard]] harness::Property has_derivative();

/// For every slice. The reason: scaling object or probe scales the waves in the same way, and the
/// cost does not depend on a constant phase.
[[nodiscard]] harness::Property balances_object_and_probe();

// Steps of solvers, which compute a new object and a new probe.

/// If the frames are those of object and probe, a step changes both only by rounding errors.
/// keeps_the_truth_on_whole_pixels() is for steps that fit the object to its patches: with
/// interpolation, such a fit is exact only at whole pixels.
[[nodiscard]] harness::Property keeps_the_truth();
[[nodiscard]] harness::Property keeps_the_truth_on_whole_pixels();

/// The second step sees the same frames, the third step sees other frames at other positions. Each
/// step is judged against the reference of its own start, so that bounds do not grow from step to
/// step.
[[nodiscard]] harness::Property takes_further_steps();

[[nodiscard]] harness::Property step_agrees_at_the_truth();

/// The scan is at whole pixels, and all pixels are measured. Then the residual waves are the waves
/// of object and probe themselves. The object's gradient is -D o and the probe's is -E P, with the
/// weights D and E of object_preconditioner and probe_preconditioner. So the new object and probe
/// are known in closed form; for conjugate gradients, only the object's gradient is. Unlike at the
/// truth, where a step may have any length, nothing is 0.
[[nodiscard]] harness::Property grows_as_its_light_does();

/// rPIE takes the same step as ePIE, but with other divisors: ((1-a) D + a max D) instead of max D,
/// for the object and for the probe.
[[nodiscard]] harness::Property is_epie_with_other_divisors();

/// The step is ePIE's step plus b times the old directions, for b = momentum_beta; so from
/// directions of 0, it is ePIE's step. The new directions are the changes of object and probe.
[[nodiscard]] harness::Property is_epie_with_memory();

/// If the frames are those of object and probe, the gradients are only rounding errors. Object and
/// probe then move by b times the old directions, which are also the new ones.
[[nodiscard]] harness::Property coasts_at_the_truth();

/// For the difference map, at whole pixels, where all pixels are measured. The exit waves w are
/// those of object and probe. Then object and probe stay, and w becomes (1 + beta) w.
[[nodiscard]] harness::Property waves_grow_by_beta();

/// For the difference map and any start. The sum of two waves has the measured amplitudes at all
/// lit pixels. One is the wave of the new object and probe. The other is the change of the exit
/// wave, divided by beta. So object and probe make the frames if no exit wave changes.
[[nodiscard]] harness::Property fixed_points_are_solutions();

/// keeps_the_truth() for LSQML: a step goes along directions that are nothing but rounding errors,
/// as far as its lengths say. A length here is a quotient of rounding errors, so it has no bound.
[[nodiscard]] harness::Property keeps_the_truth_along_its_directions();

/// A property of LSQML. Neither the object's step nor the probe's moves the waves of mode 0 of all
/// positions by more than 4 r |chi|. Here, r is lsqml_relaxation and chi is what came back of all
/// positions. The proof is for the object, and the same for the probe. It uses the contract's
/// names, m1 = mean(a1) and c = |chi_n|. First, |x1| <= (A4 |u| c + |u| |v|^2 c) / det <=
/// 2 A4 |u| c / det, and det >= A1 A4 - a1 a4 >= A4 m1 / 2. So |x1| <= 4 |u| c / m1, and its mean
/// is at most 4 sqrt(mean(c^2) / m1). All waves move by r times this mean times sqrt(N m1).
[[nodiscard]] harness::Property moves_no_more_than_came_back();

/// The properties of every step: it agrees with the reference, is deterministic, and does not
/// depend on the distribution and order of the positions.
[[nodiscard]] std::vector<harness::Property> step_properties();

/// step_properties(), and the properties of steps that divide by the light of all positions. Such
/// steps follow their inputs under all symmetries, and repeated positions make no difference.
[[nodiscard]] std::vector<harness::Property> weighted_step_properties();

/// step_properties(), and the properties of conjugate gradient steps for either cost.
template <NoiseModel noise>
[[nodiscard]] std::vector<harness::Property> conjugate_gradient_properties();

// Exchanges of halos.

/// The properties of every halo exchange. It agrees with the reference and is linear. It leaves the
/// same bits in all copies of a pixel, and does nothing without a halo.
[[nodiscard]] std::vector<harness::Property> halo_properties();

/// No bit changes if the arithmetic is exact, otherwise no more than its rounding errors.
[[nodiscard]] harness::Property is_idempotent();
[[nodiscard]] harness::Property multiplies_when_repeated();
[[nodiscard]] harness::Property conserves_the_sum();
[[nodiscard]] harness::Property stays_between_the_copies();

// Partitions of scan positions.

[[nodiscard]] std::vector<harness::Property> partition_properties();
/// partition_properties(), and that the ranks' numbers of positions differ by at most 1.
[[nodiscard]] std::vector<harness::Property> equal_partition_properties();

/// fuse undoes redistribute bit by bit for any owners, including those of a partition.
[[nodiscard]] harness::Property inverts_redistribute();

}  // namespace rankcheck::cases
