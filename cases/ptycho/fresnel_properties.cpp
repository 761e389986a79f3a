#include "cases/ptycho/fresnel_properties.hpp"

#include <cstddef>
#include <vector>

#include "harness/properties/is_deterministic.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/operator_properties.hpp"
#include "cases/ptycho/position_properties.hpp"

namespace rankcheck::cases {

namespace {

using spec::Array;

/// Whether no frequency is so high that it decays.
bool all_travel(const spec::Contract&, const harness::Case& c) {
  return ptycho(c).scene.wavelength < 1.4;
}

void use_short_waves(const spec::Contract&, harness::Case& c) {
  if (ptycho(c).scene.wavelength >= 1.4) ptycho(c).scene.wavelength /= 16;
}

/// Stages 0 and 1 travel one after the other. Stage 2 travels both distances at once.
void check_distances(const harness::Evidence& evidence, harness::Judgement& judgement) {
  const OperatorStage first = read_stage(evidence, 0);
  OperatorStage second = read_stage(evidence, 1);
  const OperatorStage both = read_stage(evidence, 2);
  second.in[Array::waves] = first.expected[Array::waves];
  reference_of(second.c.operation)(second.in, second.expected);
  compare_outputs(
      both, "differs from two shorter distances", judgement, [&](Array array, std::size_t i) {
        return ExpectedValue{second.got[array].values[i],
                             second.expected[array].errors[i] + both.expected[array].errors[i]};
      });
}

}  // namespace

harness::Property is_undone_by_the_way_back() {
  harness::Property property = is_undone(
      "is_undone_by_the_way_back",
      "If no frequency is evanescent, propagating back over the same distance returns the input.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        stages.assign(2, c);
        ptycho(stages[1]).scene.distance = -ptycho(c).scene.distance;
        ptycho(stages[1]).chained = true;
      });
  property.applies = all_travel;
  property.adapt = use_short_waves;
  return property;
}

harness::Property conserves_energy_of_short_waves() {
  harness::Property property = conserves_energy();
  property.applies = all_travel;
  property.adapt = use_short_waves;
  return property;
}

harness::Property adds_distances() {
  return {
      .name = "adds_distances",
      .summary =
          "Propagating over one distance and then over another gives the same as propagating over "
          "their sum.",
      .program =
          [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
            stages.assign(3, c);
            ptycho(stages[1]).scene.distance = ptycho(c).scene.distance / 2;
            ptycho(stages[1]).chained = true;
            ptycho(stages[2]).scene.distance =
                ptycho(c).scene.distance + ptycho(c).scene.distance / 2;
          },
      .check = check_distances,
  };
}

}  // namespace rankcheck::cases
