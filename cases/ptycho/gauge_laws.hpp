#pragma once

#include <array>
#include <span>
#include <vector>

#include "harness/form.hpp"
#include "harness/operation.hpp"

/// Laws that relate an operator's results on inputs that are related by a form; see
/// harness/form.hpp.
namespace rankcheck::cases {

/// What outputs of all positions are: sums over the positions, gradients among them, or what a step
/// makes of the inputs of the same names. The cost is a sum in either case.
enum class Outputs { sums, states };

/// Makes the second of two stages one of the forms of the first one; the data decide which.
void plan_bent(std::span<const harness::Form> forms,
               const harness::Case& c,
               std::vector<harness::Case>& stages);

/// Judges whether the second stage's outputs are the first one's in the second one's form.
template <Outputs outputs>
void check_bent(const harness::Evidence& evidence, harness::Judgement& judgement);

/// Results bend as the inputs do, for all these forms; ramps at whole pixels. Steps of scenes that
/// the scan hangs over are not translated: their largest weights may lie off the object.
template <Outputs outputs, harness::Form... forms>
[[nodiscard]] harness::Property is_equivariant() {
  return {
      .name = "is_equivariant",
      .summary =
          "If a symmetry of the problem transforms the inputs, the results are transformed in the "
          "same way.",
      .applies =
          [](const spec::Contract&, const harness::Case& c) {
            return outputs == Outputs::sums || c.scan != harness::Scan::overhanging;
          },
      .program =
          [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
            plan_bent(std::array{forms...}, c, stages);
          },
      .check = check_bent<outputs>,
  };
}

/// is_equivariant() in all forms of a problem that its cost does not see, and in more of them.
template <Outputs outputs, harness::Form... more>
[[nodiscard]] harness::Property follows_every_form() {
  using harness::Form;
  return is_equivariant<outputs,
                        Form::turned,
                        Form::stretched,
                        Form::twin,
                        Form::transposed,
                        Form::mixed,
                        Form::translated,
                        Form::ramped,
                        Form::reflected,
                        Form::dark,
                        more...>();
}

/// Operators on the frames of a square detector do not know rows from columns, nor up from down.
[[nodiscard]] inline harness::Property keeps_symmetries() {
  using harness::Form;
  return is_equivariant<Outputs::sums, Form::transposed, Form::reflected>();
}

/// The positions in the opposite order, with all that belongs to them, make no difference.
[[nodiscard]] harness::Property is_independent_of_order();

/// Every position once more doubles the sums over them, and changes nothing else.
template <Outputs outputs>
[[nodiscard]] harness::Property counts_every_position();

/// Where the scan is a raster, an object times phases that come again with it and a probe times the
/// opposite ones make the same light: whatever the phases, nobody can tell them from the truth.
template <Outputs outputs>
[[nodiscard]] harness::Property keeps_the_raster_ambiguity();

/// A bilinear object is interpolated exactly.
[[nodiscard]] harness::Property is_exact_on_bilinear_objects();

}  // namespace rankcheck::cases
