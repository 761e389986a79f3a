#include <array>
#include <cmath>
#include <complex>
#include <optional>
#include <string_view>
#include <vector>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/difference_map_step/contract.hpp"
#include "reference/ptycho/pixels.hpp"
#include "reference/ptycho/references.hpp"

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
using reference::OperatorArrays;
using spec::Array;

/// Plans a step whose exit waves are those of object and probe, and whose frames have twice their
/// amplitudes.
void plan_dim_waves(const spec::Contract& contract, const Case& c, std::vector<Case>& stages) {
  plan_behind<"illuminate", "propagate", "intensity", "illuminate">(contract, c, stages);
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

}  // namespace

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

}  // namespace rankcheck::cases
