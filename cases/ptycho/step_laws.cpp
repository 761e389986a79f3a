#include "cases/ptycho/step_laws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/conjugate_gradient_step/contract.hpp"
#include "reference/ptycho/intensity/reference.hpp"

#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/laws.hpp"
#include "cases/ptycho/stage.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Evidence;
using harness::Judgement;
using harness::Verdict;
using reference::Field;
using reference::Setting;
using spec::Array;

using Stages = std::vector<Case>;

/// The operators that make the frames of object and probe, then the step.
void plan_truth(const spec::Contract&, const Case& c, Stages& stages) {
  constexpr std::array model{"illuminate", "propagate", "intensity"};
  stages.assign(model.size() + 1, c);
  for (std::size_t s = 0; s < model.size(); ++s) {
    stages[s].operation = model[s];
    stages[s].algorithm.clear();
  }
  for (Case& stage : stages) stage.chained = true;
}

void check_truth(const Evidence& evidence, Judgement& judgement) {
  OperatorStage step = read_stage(evidence, 3);
  // The frames as they should be, with what the model may have done wrong to them.
  Setting far = step.in;
  forward(step.in, far);
  Setting seen = far;
  reference::intensity::reference(far, seen);
  step.in[Array::frames] = seen[Array::frames];
  reference_of(step.c.operation)(step.in, step.expected);
  compare_outputs(step, "moved away from the truth", judgement, [&](Array array, std::size_t i) {
    if (array != Array::object && array != Array::probe) {
      return Wanted{0, std::numeric_limits<double>::infinity()};
    }
    return Wanted{step.in[array].values[i], step.expected[array].errors[i]};
  });
}

harness::Property truth_law(std::string_view name,
                            void (*program)(const spec::Contract& contract,
                                            const Case& c,
                                            Stages& stages)) {
  return {
      .name = name,
      .summary = "Where the frames are those of object and probe, a step changes neither.",
      .program = program,
      .check = check_truth,
  };
}

void check_cost(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage before = read_stage(evidence, 0);
  const OperatorStage after = read_stage(evidence, 1);
  const double was = before.got[Array::cost].values[0].real();
  const double is = after.got[Array::cost].values[0].real();
  compare_numbers(before,
                  {.name = "the least of both costs", .value = std::min(was, is)},
                  {.name = "the cost after the step", .value = is},
                  before.expected[Array::cost].errors[0] + after.expected[Array::cost].errors[0],
                  judgement);
}

/// Whether a line search may have found this length.
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
  compare_outputs(stage, "is not where its step leads", judgement, [&](Array array, std::size_t i) {
    if (array != Array::object && array != Array::probe) {
      return Wanted{0, std::numeric_limits<double>::infinity()};
    }
    const bool is_object = array == Array::object;
    const Field& direction =
        stage.got[is_object ? Array::object_direction : Array::probe_direction];
    const double length = lengths[is_object ? 0 : 1].real();
    const auto from = stage.in[array].values[i];
    const auto to = from + length * direction.values[i];
    // The length is a power of two: there is one rounding, and ours.
    return Wanted{to, length == 0 ? 0 : (unit + 0x1p-52) * std::abs(to)};
  });
}

}  // namespace

harness::Property keeps_the_truth() {
  return truth_law("keeps_the_truth", plan_truth);
}

harness::Property keeps_the_truth_on_whole_pixels() {
  return truth_law("keeps_the_truth_on_whole_pixels",
                   [](const spec::Contract& contract, const Case& c, Stages& stages) {
                     plan_truth(contract, c, stages);
                     for (Case& stage : stages) stage.scan = harness::Scan::whole;
                   });
}

harness::Property never_raises_the_cost() {
  return {
      .name = "never_raises_the_cost",
      .summary = "The cost of the new object and probe is not above that of the old ones.",
      .program =
          [](const spec::Contract&, const Case& c, Stages& stages) {
            stages.assign(2, c);
            stages[1].operation = "gaussian_gradients";
            stages[1].algorithm.clear();
            stages[1].chained = true;
          },
      .check = check_cost,
  };
}

harness::Property goes_along_its_directions() {
  return {
      .name = "goes_along_its_directions",
      .summary = "The new values are the old ones plus a power of two times the directions.",
      .program = [](const spec::Contract&, const Case& c, Stages& stages) { stages.assign(1, c); },
      .check = check_directions,
  };
}

std::vector<harness::Property> step_properties() {
  return {
      operator_agrees_with_reference(),
      harness::is_deterministic(),
      is_independent_of_partition(),
      is_independent_of_order(),
  };
}

}  // namespace rankcheck::cases
