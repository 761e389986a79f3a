#include <array>
#include <cmath>
#include <complex>
#include <optional>
#include <string_view>
#include <vector>

#include "reference/ptycho/momentum_step/contract.hpp"

#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/properties.hpp"
#include "cases/ptycho/stage.hpp"
#include "cases/ptycho/truth.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Evidence;
using harness::Judgement;
using spec::Array;

/// The object or the probe that belongs to an array of the step.
bool is_of_object(Array array) {
  return array == Array::object || array == Array::object_direction;
}

bool is_direction(Array array) {
  return array == Array::object_direction || array == Array::probe_direction;
}

/// Returns what the old direction contributes to a value of object, probe or a direction.
std::complex<double> memory_of(const OperatorStage& step, Array array, std::size_t i) {
  const Array direction = is_of_object(array) ? Array::object_direction : Array::probe_direction;
  return reference::momentum_beta * step.in[direction].values[i];
}

/// Stage 0 is ePIE's step, stage 1 is the step itself, with the same inputs.
void check_without_memory(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage epie = read_stage(evidence, 0);
  const OperatorStage step = read_stage(evidence, 1);
  compare_outputs(step, "is not ePIE's step plus the memory", judgement, [&](Array array, auto i) {
    const Array block = is_of_object(array) ? Array::object : Array::probe;
    const Array moved = array == Array::cost ? array : block;
    const double own = step.expected[array].errors[i];
    ExpectedValue expected{epie.got[moved].values[i], epie.expected[moved].errors[i] + own};
    if (array == Array::cost) return expected;
    const auto before = step.in[block].values[i];
    if (is_direction(array)) expected.value -= before;
    expected.value += memory_of(step, array, i);
    // The property itself computes in double precision.
    expected.bound += 0x1p-50 * (std::abs(before) + std::abs(expected.value));
    return expected;
  });
}

void check_coasting(const Evidence& evidence, Judgement& judgement) {
  OperatorStage step = read_truth(evidence);
  expect_again(step, reference::Follow::nothing);
  const auto coasted = [&](Array array, std::size_t i) -> std::optional<ExpectedValue> {
    if (array == Array::cost) return std::nullopt;
    auto value = memory_of(step, array, i);
    if (!is_direction(array)) value += step.in[array].values[i];
    return ExpectedValue{value, step.expected[array].errors[i]};
  };
  compare_outputs(step, "does not go on as before at the truth", judgement, coasted);
}

}  // namespace

harness::Property is_epie_with_memory() {
  return {
      .name = "is_epie_with_memory",
      .summary = "The step is ePIE's step plus 0.9 times the old directions.",
      .program = plan_behind<"epie_step">,
      .check = check_without_memory,
  };
}

harness::Property coasts_at_the_truth() {
  return {
      .name = "coasts_at_the_truth",
      .summary =
          "If the frames are those of object and probe, a step moves them by 0.9 times the old "
          "directions.",
      .program = plan_truth,
      .check = check_coasting,
  };
}

}  // namespace rankcheck::cases
