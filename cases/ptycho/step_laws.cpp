#include "cases/ptycho/step_laws.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/conjugate_gradient_step/contract.hpp"
#include "reference/ptycho/difference_map_step/contract.hpp"
#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/illuminate/reference.hpp"
#include "reference/ptycho/intensity/reference.hpp"
#include "reference/ptycho/lsqml_step/contract.hpp"
#include "reference/ptycho/lsqml_step/reference.hpp"
#include "reference/ptycho/object_preconditioner/reference.hpp"
#include "reference/ptycho/pixels.hpp"
#include "reference/ptycho/probe_preconditioner/reference.hpp"
#include "reference/ptycho/propagate/reference.hpp"
#include "reference/ptycho/rpie_step/contract.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/properties/is_deterministic.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/symmetry.hpp"
#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/laws.hpp"
#include "cases/ptycho/stage.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Evidence;
using harness::Judgement;
using harness::Verdict;
using reference::BoundedArray;
using reference::Estimate;
using reference::OperatorArrays;
using spec::Array;

using Stages = std::vector<Case>;

/// Plans the operators that compute the frames of object and probe, then the step.
void plan_truth(const spec::Contract&, const Case& c, Stages& stages) {
  constexpr std::array<std::string_view, 3> model{"illuminate", "propagate", "intensity"};
  plan_behind(model, c, stages);
  for (Case& stage : stages) ptycho(stage).chained = true;
}

/// Reads the last stage, a step. Replaces its frames by the model's frames of a probe that is
/// `brightness` times as bright, with the errors of the model. Exit waves, if the step has any,
/// become those of object and probe.
OperatorStage read_truth(const Evidence& evidence, double brightness = 1) {
  OperatorStage step = read_stage(evidence, evidence.stages.size() - 1);
  if (!step.in[Array::exit_waves].values.empty()) {
    OperatorArrays left = step.in;
    reference::illuminate::reference(step.in, left);
    step.in[Array::exit_waves] = left[Array::waves];
  }
  OperatorArrays lit = step.in;
  for (auto& value : lit[Array::probe].values) value *= brightness;
  OperatorArrays far = lit;
  forward(lit, far);
  OperatorArrays seen = far;
  reference::intensity::reference(far, seen);
  step.in[Array::frames] = seen[Array::frames];
  return step;
}

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
  if (leaves_directions(step.contract)) {
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

harness::Property truth_law(std::string_view name,
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

/// Plans a step whose exit waves are those of object and probe, and whose frames have twice their
/// amplitudes.
void plan_dim_waves(const spec::Contract&, const Case& c, Stages& stages) {
  constexpr std::array<std::string_view, 4> others{
      "illuminate", "propagate", "intensity", "illuminate"};
  plan_behind(others, c, stages);
  for (Case& stage : stages) {
    ptycho(stage).chained = true;
    ptycho(stage).scan = Scan::whole;
  }
  for (std::size_t s = 0; s < 3; ++s) ptycho(stages[s]).symmetry = Symmetry::brightened;
  ptycho(stages.back()).symmetry = Symmetry::unmasked;
}

void check_dim_waves(const Evidence& evidence, Judgement& judgement) {
  OperatorStage step = read_truth(evidence, 2);
  reference_of(step.c.operation)(step.in, step.expected);
  const auto grows = [&](Array array, std::size_t i) -> std::optional<ExpectedValue> {
    if (array == Array::cost) return std::nullopt;
    const double factor = array == Array::exit_waves ? 1 + reference::difference_map_beta : 1;
    const auto value = factor * step.in[array].values[i];
    // The bound of any implementation, plus the rounding of `value` in double precision.
    return ExpectedValue{value, step.expected[array].errors[i] + 0x1p-50 * std::abs(value)};
  };
  compare_outputs(step, "differs from the closed form", judgement, grows);
}

/// Returns the waves of the step's new object and probe plus the exit waves' change divided by
/// beta, at the detector. These are the waves that got the measured amplitudes; their errors are
/// bounded.
OperatorArrays projected_waves(const OperatorStage& step) {
  OperatorArrays fit = with(step.in, {Array::positions, Array::frames, Array::mask});
  fit.unit = 0x1p-52;
  for (const Array array : {Array::object, Array::probe}) {
    fit[array] = {.values = step.got[array].values, .errors = step.expected[array].errors};
  }
  reference::illuminate::reference(fit, fit);
  BoundedArray& waves = fit[Array::waves];
  for (std::size_t i = 0; i < waves.values.size(); ++i) {
    const auto change =
        step.got[Array::exit_waves].values[i] - step.in[Array::exit_waves].values[i];
    waves.values[i] += change / reference::difference_map_beta;
    waves.errors[i] += step.expected[Array::exit_waves].errors[i] / reference::difference_map_beta +
                       0x1p-50 * (std::abs(waves.values[i]) + std::abs(change));
  }
  reference::propagate::reference(fit, fit);
  return fit;
}

void check_fixed_points(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage step = read_stage(evidence, 0);
  const OperatorArrays far = projected_waves(step);
  double distance = 0;
  double most = 0;
  double light = 0;
  reference::for_each_pixel(
      far, [&](std::size_t pixel, std::size_t i, const auto& at, const auto&) {
        if (far[Array::mask].values[i].real() == 0) return;
        distance =
            std::hypot(distance, at.amplitude - std::sqrt(far[Array::frames].values[pixel].real()));
        most = std::hypot(most, at.error + 0x1p-50 * at.amplitude);
        light = std::hypot(light, at.amplitude);
      });
  compare_with_limit(step,
                     {.name = "the distance of the waves from the frames", .value = distance},
                     {.bound = most, .scale = light},
                     judgement);
}

/// Returns the length of the vector of mode 0's waves at all positions.
double light_of(OperatorArrays arrays, const BoundedArray& object, const BoundedArray& probe) {
  arrays.scene.modes = 1;
  arrays[Array::object] = object;
  arrays[Array::probe] = probe;
  arrays[Array::probe].values.resize(arrays.size(Array::probe));
  arrays[Array::probe].errors.assign(arrays.size(Array::probe), 0);
  reference::illuminate::reference(arrays, arrays);
  double energy = 0;
  for (const auto& wave : arrays[Array::waves].values) energy += std::norm(wave);
  return std::sqrt(energy);
}

/// Bounds the length of the vector of mode 0's residual waves.
double returned_light(const OperatorStage& step, const BoundedArray& waves) {
  const auto frame = spec::to_size(spec::values(ptycho(step.c).scene, Array::frames));
  const auto modes = spec::to_size(ptycho(step.c).scene.modes);
  double energy = 0;
  for (std::size_t i = 0; i < waves.values.size(); ++i) {
    if (i / frame % modes != 0) continue;
    const double magnitude = std::abs(waves.values[i]) + waves.errors[i];
    energy += magnitude * magnitude;
  }
  return std::sqrt(energy);
}

BoundedArray magnitudes(const BoundedArray& bounded) {
  BoundedArray result = bounded;
  for (auto& value : result.values) value = std::abs(value);
  return result;
}

/// Judges how far the step of the object or of the probe moved the waves of mode 0.
void check_light(const OperatorStage& step, Array moved, double most, Judgement& judgement) {
  const double unit = step.in.unit;
  BoundedArray change = step.got[moved];
  BoundedArray slack = change;
  for (std::size_t i = 0; i < change.values.size(); ++i) {
    change.values[i] -= step.in[moved].values[i];
    // The errors come from rounding the new value and from computing the waves of its change, which
    // are sums of four products of products.
    slack.values[i] = reference::growth(2, unit) * std::abs(step.got[moved].values[i]) +
                      reference::growth(16, unit) * std::abs(change.values[i]);
  }
  const bool is_object = moved == Array::object;
  const BoundedArray& other = step.in[is_object ? Array::probe : Array::object];
  const auto light = [&](const BoundedArray& of, const BoundedArray& with) {
    return is_object ? light_of(step.in, of, with) : light_of(step.in, with, of);
  };
  compare_with_limit(step,
                     {.name = is_object ? "the distance by which the object's step moves the waves"
                                        : "the distance by which the probe's step moves the waves",
                      .value = light(change, other)},
                     {.limit = most, .bound = light(slack, magnitudes(other)), .scale = most},
                     judgement);
}

void check_came_back(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage step = read_stage(evidence, 0);
  OperatorArrays led = step.in;
  reference::lsqml_step::directions(step.in, led);
  const double most = 4 * reference::lsqml_relaxation * returned_light(step, led[Array::waves]) *
                      (1 + reference::growth(16, step.in.unit));
  check_light(step, Array::object, most, judgement);
  check_light(step, Array::probe, most, judgement);
}

void check_truth_along_directions(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage step = read_truth(evidence);
  OperatorArrays led = step.in;
  reference::lsqml_step::directions(step.in, led);
  const auto& lengths = step.got[Array::step_lengths].values;
  const auto led_by = [&](Array from, std::size_t length, Array direction) {
    return moved(step.in[from], Estimate{.value = lengths[length]}, led[direction], step.in.unit);
  };
  const BoundedArray object = led_by(Array::object, 0, Array::object_direction);
  const BoundedArray probe = led_by(Array::probe, 1, Array::probe_direction);
  const auto follows = [&](Array array, std::size_t i) -> std::optional<ExpectedValue> {
    if (array == Array::cost) return std::nullopt;
    // Any length that is a number and not negative is accepted.
    if (array == Array::step_lengths) return ExpectedValue{std::max(0.0, lengths[i].real()), 0};
    const BoundedArray& wanted = array == Array::object ? object : probe;
    return ExpectedValue{wanted.values[i], wanted.errors[i]};
  };
  compare_outputs(step, "moved away from the truth", judgement, follows);
}

/// Plans the weights, ePIE's step, then the step itself.
void plan_epie(const spec::Contract&, const Case& c, Stages& stages) {
  constexpr std::array<std::string_view, 3> others{
      "object_preconditioner", "probe_preconditioner", "epie_step"};
  plan_behind(others, c, stages);
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

void check_cost(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage before = read_stage(evidence, 0);
  const OperatorStage after = read_stage(evidence, 1);
  const double was = before.got[Array::cost].values[0].real();
  const double is = after.got[Array::cost].values[0].real();
  const double bound =
      before.expected[Array::cost].errors[0] + after.expected[Array::cost].errors[0];
  compare_with_limit(before,
                     {.name = "the cost after the step", .value = is},
                     {.limit = was, .bound = bound, .scale = std::max(was, is)},
                     judgement);
}

/// Whether a line search can return this length.
bool is_found(double length) {
  int exponent = 0;
  if (length == 0) return true;
  return std::frexp(length, &exponent) == 0.5 && exponent <= 1 &&
         exponent > -reference::line_search_halvings;
}

void check_directions(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage stage = read_stage(evidence, 0);
  const double unit = std::ldexp(1, -spec::info(stage.c.type).precision);
  const auto& lengths = stage.got[Array::step_lengths].values;
  for (const auto& length : lengths) {
    if (is_found(length.real())) continue;
    judgement.fail(Verdict::falsified, fmt::format("a step of length {:.9g}", length.real()));
  }
  const auto leads = [&](Array array, std::size_t i) -> std::optional<ExpectedValue> {
    if (array != Array::object && array != Array::probe) return std::nullopt;
    const bool is_object = array == Array::object;
    const BoundedArray& direction =
        stage.got[is_object ? Array::object_direction : Array::probe_direction];
    const double length = lengths[is_object ? 0 : 1].real();
    const auto from = stage.in[array].values[i];
    const auto to = from + length * direction.values[i];
    // The product is exact, because the length is a power of two. The sum is rounded once by the
    // operator and once here.
    return ExpectedValue{to, length == 0 ? 0 : (unit + 0x1p-52) * std::abs(to)};
  };
  compare_outputs(stage, "differs from the old value plus the step", judgement, leads);
}

}  // namespace

harness::Property keeps_the_truth() {
  return truth_law("keeps_the_truth", plan_truth);
}

harness::Property keeps_the_truth_on_whole_pixels() {
  return truth_law("keeps_the_truth_on_whole_pixels",
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

harness::Property keeps_the_truth_along_its_directions() {
  return {
      .name = "keeps_the_truth_along_its_directions",
      .summary =
          "If the frames are those of object and probe, a step moves them only along rounding "
          "errors.",
      .program = plan_truth,
      .check = check_truth_along_directions,
  };
}

harness::Property moves_no_more_than_came_back() {
  return {
      .name = "moves_no_more_than_came_back",
      .summary = "A step moves the waves of mode 0 by at most 4 r times the residual.",
      .program = plan_once,
      .check = check_came_back,
  };
}

harness::Property is_epie_with_other_divisors() {
  return {
      .name = "is_epie_with_other_divisors",
      .summary = "The step is ePIE's times max D / ((1-a) D + a max D), pixel by pixel.",
      .program = plan_epie,
      .check = check_epie,
  };
}

template <NoiseModel noise>
harness::Property never_raises_the_cost() {
  constexpr bool is_poisson = noise == NoiseModel::poisson;
  return {
      .name = "never_raises_the_cost",
      .summary = "The cost of the new object and probe is at most the cost of the old ones.",
      .program = is_poisson ? plan_then_on_result<"poisson_gradients">
                            : plan_then_on_result<"gaussian_gradients">,
      .check = check_cost,
  };
}

harness::Property goes_along_its_directions() {
  return {
      .name = "goes_along_its_directions",
      .summary = "The new values are the old values plus a power of two times the directions.",
      .program = plan_once,
      .check = check_directions,
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

template harness::Property never_raises_the_cost<NoiseModel::gaussian>();
template harness::Property never_raises_the_cost<NoiseModel::poisson>();

template <NoiseModel noise>
std::vector<harness::Property> conjugate_gradient_properties() {
  auto properties = step_properties();
  // Symmetry::stretched is left out, because a gradient shrinks if the object is stretched.
  properties.push_back(is_equivariant<Outputs::states,
                                      Symmetry::turned,
                                      Symmetry::twin,
                                      Symmetry::transposed,
                                      Symmetry::mixed,
                                      Symmetry::translated,
                                      Symmetry::ramped,
                                      Symmetry::reflected,
                                      Symmetry::dark>());
  // The Poisson cost has its minimum slightly below the measured counts.
  properties.push_back(noise == NoiseModel::poisson ? step_agrees_at_the_truth()
                                                    : keeps_the_truth());
  properties.push_back(never_raises_the_cost<noise>());
  properties.push_back(goes_along_its_directions());
  return properties;
}

harness::Property waves_grow_by_beta() {
  return {
      .name = "waves_grow_by_beta",
      .summary =
          "If the measured amplitudes are twice those of the waves, the exit waves grow by beta "
          "and nothing else changes.",
      .program = plan_dim_waves,
      .check = check_dim_waves,
  };
}

harness::Property fixed_points_are_solutions() {
  return {
      .name = "fixed_points_are_solutions",
      .summary =
          "The waves of object and probe, plus the exit waves' change divided by beta, have the "
          "measured amplitudes.",
      .program = plan_once,
      .check = check_fixed_points,
  };
}

template std::vector<harness::Property> conjugate_gradient_properties<NoiseModel::gaussian>();
template std::vector<harness::Property> conjugate_gradient_properties<NoiseModel::poisson>();

}  // namespace rankcheck::cases
