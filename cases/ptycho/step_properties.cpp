#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/ptycho/rpie_step/contract.hpp"

#include "harness/properties/same_bits.hpp"

#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/properties.hpp"
#include "cases/ptycho/stage.hpp"
#include "cases/ptycho/truth.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Evidence;
using harness::Judgement;
using reference::BoundedArray;
using reference::Estimate;
using reference::OperatorArrays;
using spec::Array;

using Stages = std::vector<Case>;

/// Bounds how far the step may lead along its own direction.
BoundedArray led_along_own_direction(const OperatorStage& step, Array array) {
  const bool is_object = array == Array::object;
  const BoundedArray& lengths = step.expected[Array::step_lengths];
  const BoundedArray& direction =
      step.got[is_object ? Array::object_direction : Array::probe_direction];
  const std::size_t block = is_object ? 0 : 1;
  const double longest = lengths.values[block].real() + lengths.errors[block];
  BoundedArray led = step.in[array];
  for (std::size_t i = 0; i < led.values.size(); ++i) {
    const double most = longest * std::abs(direction.values[i]);
    led.errors[i] = most + reference::growth(2, step.in.unit) * (std::abs(led.values[i]) + most);
  }
  return led;
}

void check_truth(const Evidence& evidence, Judgement& judgement) {
  OperatorStage step = read_truth(evidence);
  expect_again(step, reference::Follow::choices);
  if (searches_along_directions(step.contract)) {
    // The bound of a direction may be useless. But no length that lowers the cost leads far along
    // the direction that was taken.
    OperatorStage followed = step;
    expect_again(followed, reference::Follow::results);
    for (const Array array : {Array::object, Array::probe}) {
      const BoundedArray led = led_along_own_direction(followed, array);
      BoundedArray& kept = step.expected[array];
      for (std::size_t i = 0; i < kept.errors.size(); ++i) {
        kept.errors[i] = std::min(kept.errors[i], led.errors[i]);
      }
    }
  }
  const auto kept = [&](Array array, std::size_t i) -> std::optional<ExpectedValue> {
    const bool is_kept =
        array == Array::object || array == Array::probe || array == Array::exit_waves;
    if (!is_kept) return std::nullopt;
    return ExpectedValue{step.in[array].values[i], step.expected[array].errors[i]};
  };
  compare_outputs(step, "moved away from the truth", judgement, kept);
}

harness::Property truth_property(std::string_view name,
                                 void (*program)(const spec::Contract& contract,
                                                 const Case& c,
                                                 Stages& stages)) {
  return {
      .name = name,
      .summary = "If the frames are those of object and probe, a step changes neither of them.",
      .program = program,
      .check = check_truth,
  };
}

/// Returns the share alpha of the largest weight in a step's divisor. 0: the step divides by each
/// value's own weight.
double alpha_of(std::string_view operation) {
  if (operation == "rpie_step") return reference::rpie_alpha;
  return operation == "epie_step" ? 1 : 0;
}

/// Returns value * (1 + weight / ((1-alpha) weight + alpha most)), or the value itself if the
/// weight is 0.
std::complex<double> grown(std::complex<double> value, double weight, double most, double alpha) {
  return weight > 0 ? value * (1 + weight / ((1 - alpha) * weight + alpha * most)) : value;
}

/// The frames have twice the amplitudes, so the change of the waves equals the waves themselves.
void check_growth(const Evidence& evidence, Judgement& judgement) {
  OperatorStage step = read_truth(evidence, 2);
  reference_of(step.c.operation)(step.in, step.expected);
  OperatorArrays weighed = step.in;
  reference::object_preconditioner::reference(step.in, weighed);
  reference::probe_preconditioner::reference(step.in, weighed);
  const double alpha = alpha_of(step.c.operation);
  const auto grows = [&](Array array, std::size_t i) -> std::optional<ExpectedValue> {
    if (array == Array::object_gradient) {
      const double weight = weighed[Array::object_weight].values[i].real();
      return ExpectedValue{-weight * step.in[Array::object].values[i],
                           step.expected[array].errors[i]};
    }
    const bool is_state = array == Array::object || array == Array::probe;
    const bool remembers = step.in[Array::object_gradient].values.size() > 0;
    if (!is_state || remembers) return std::nullopt;
    const BoundedArray& weights =
        weighed[array == Array::object ? Array::object_weight : Array::probe_weight];
    const auto value = grown(step.in[array].values[i],
                             weights.values[i % weights.values.size()].real(),
                             largest(weights).value.real(),
                             alpha);
    // The bound of any implementation, plus the rounding of `value` in double precision.
    return ExpectedValue{value, step.expected[array].errors[i] + 0x1p-50 * std::abs(value)};
  };
  compare_outputs(step, "differs from the closed form", judgement, grows);
}

/// Returns the ratios of rPIE's step to ePIE's step for the values of a weight.
std::vector<Estimate> ratios_of(const OperatorStage& weighed, Array weight) {
  constexpr double unit = 0x1p-53;
  BoundedArray weights = weighed.got[weight];
  weights.errors = weighed.expected[weight].errors;
  const Estimate most = largest(weights);
  std::vector<Estimate> ratios(weights.values.size());
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const Estimate own = product({.value = 1 - reference::rpie_alpha}, at(weights, i), unit);
    const Estimate divisor = sum(own, product({.value = reference::rpie_alpha}, most, unit), unit);
    if (divisor.magnitude() > 0) ratios[i] = quotient(most, divisor, unit);
  }
  return ratios;
}

void check_epie(const Evidence& evidence, Judgement& judgement) {
  const auto object = ratios_of(read_stage(evidence, 0), Array::object_weight);
  const auto probe = ratios_of(read_stage(evidence, 1), Array::probe_weight);
  const OperatorStage epie = read_stage(evidence, 2);
  const OperatorStage step = read_stage(evidence, 3);
  compare_outputs(step, "is not ePIE's step", judgement, [&](Array array, std::size_t i) {
    Estimate change{.value = epie.got[array].values[i], .error = epie.expected[array].errors[i]};
    const double own = step.expected[array].errors[i];
    if (array == Array::cost) return ExpectedValue{change.value, change.error + own};
    const auto before = step.in[array].values[i];
    const auto& ratios = array == Array::object ? object : probe;
    change.value -= before;
    change = product(ratios[i % ratios.size()], change, 0x1p-52);
    return ExpectedValue{before + change.value, change.error + 0x1p-52 * std::abs(before) + own};
  });
}

}  // namespace

harness::Property keeps_the_truth() {
  return truth_property("keeps_the_truth", plan_truth);
}

harness::Property keeps_the_truth_on_whole_pixels() {
  return truth_property("keeps_the_truth_on_whole_pixels",
                        [](const spec::Contract& contract, const Case& c, Stages& stages) {
                          plan_truth(contract, c, stages);
                          for (Case& stage : stages) ptycho(stage).scan = Scan::whole;
                        });
}

harness::Property takes_further_steps() {
  return {
      .name = "takes_further_steps",
      .summary =
          "Three steps, each from the state that the step before left, agree with the reference.",
      .program =
          [](const spec::Contract&, const Case& c, Stages& stages) {
            stages.assign(3, c);
            for (std::size_t k = 1; k < stages.size(); ++k) ptycho(stages[k]).chained = true;
            ++stages.back().data_seed;
          },
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            const auto check_last = operator_agrees_with_reference().check;
            for (std::size_t steps = 1; steps <= evidence.stages.size(); ++steps) {
              check_last({.catalogue = evidence.catalogue,
                          .traits = evidence.traits,
                          .stages = evidence.stages.first(steps),
                          .observation = evidence.observation},
                         judgement);
            }
          },
  };
}

harness::Property step_agrees_at_the_truth() {
  return {
      .name = "agrees_at_the_truth",
      .summary =
          "If the frames are those of object and probe, the step still agrees with the reference.",
      .program = plan_truth,
      .check = agrees_at_the_truth().check,
  };
}

harness::Property grows_as_its_light_does() {
  return {
      .name = "grows_as_its_light_does",
      .summary =
          "If the measured amplitudes are twice those of object and probe, the new values are "
          "known in closed form.",
      .program =
          [](const spec::Contract& contract, const Case& c, Stages& stages) {
            plan_truth(contract, c, stages);
            for (Case& stage : stages) {
              ptycho(stage).scan = Scan::whole;
              ptycho(stage).symmetry = Symmetry::brightened;
            }
            ptycho(stages.back()).symmetry = Symmetry::unmasked;
          },
      .check = check_growth,
  };
}

harness::Property is_epie_with_other_divisors() {
  return {
      .name = "is_epie_with_other_divisors",
      .summary = "The step is ePIE's times max D / ((1-a) D + a max D), pixel by pixel.",
      .program = plan_behind<"object_preconditioner", "probe_preconditioner", "epie_step">,
      .check = check_epie,
  };
}

std::vector<harness::Property> step_properties() {
  return {
      operator_agrees_with_reference(),
      takes_further_steps(),
      harness::is_deterministic(),
      is_independent_of_partition(),
      is_independent_of_refinement(),
      is_independent_of_order(),
      ignores_unmeasured_pixels(),
      keeps_the_raster_ambiguity<Outputs::states>(),
  };
}

std::vector<harness::Property> weighted_step_properties() {
  auto properties = step_properties();
  properties.push_back(follows_every_symmetry<Outputs::states, Symmetry::brightened>());
  properties.push_back(counts_every_position<Outputs::states>());
  return properties;
}

}  // namespace rankcheck::cases
