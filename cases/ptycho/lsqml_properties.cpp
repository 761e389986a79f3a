#include <algorithm>
#include <cmath>
#include <optional>

#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/lsqml_step/contract.hpp"
#include "reference/ptycho/lsqml_step/directions.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/assert.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/properties.hpp"
#include "cases/ptycho/stage.hpp"
#include "cases/ptycho/truth.hpp"

namespace rankcheck::cases {

namespace {

using harness::Evidence;
using harness::Judgement;
using reference::BoundedArray;
using reference::Estimate;
using reference::OperatorArrays;
using spec::Array;

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
  RANKCHECK_ASSERT(frame > 0 && modes > 0);
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

}  // namespace

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

}  // namespace rankcheck::cases
