#pragma once

#include <array>
#include <span>
#include <vector>

#include "harness/check/operation.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/symmetry.hpp"

/// Properties that relate an operator's results if its inputs are related by a symmetry of
/// cases/families/ptycho/symmetry.hpp.
namespace rankcheck::cases {

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

/// Reversing the positions, with all arrays that belong to them, does not change the result.
[[nodiscard]] harness::Property is_independent_of_order();

/// Repeating every position doubles the sums over the positions and changes nothing else.
template <Outputs outputs>
[[nodiscard]] harness::Property counts_every_position();

/// On a raster scan, phases with the raster's period can multiply the object if the opposite phases
/// multiply the probe. The frames stay the same, so no algorithm can distinguish the two solutions.
template <Outputs outputs>
[[nodiscard]] harness::Property keeps_the_raster_ambiguity();

/// A bilinear object is interpolated exactly.
[[nodiscard]] harness::Property is_exact_on_bilinear_objects();

}  // namespace rankcheck::cases
