#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "reference/ptycho/conjugate_gradient_step/contract.hpp"

#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/properties.hpp"
#include "cases/ptycho/stage.hpp"

namespace rankcheck::cases {

namespace {

using harness::Evidence;
using harness::Judgement;
using harness::Verdict;
using reference::BoundedArray;
using spec::Array;

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

/// Computes the cost of the new state again.
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

/// A search by halving finds only powers of two.
harness::Property goes_along_its_directions() {
  return {
      .name = "goes_along_its_directions",
      .summary = "The new values are the old values plus a power of two times the directions.",
      .program = plan_once,
      .check = check_directions,
  };
}

}  // namespace

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

template std::vector<harness::Property> conjugate_gradient_properties<NoiseModel::gaussian>();
template std::vector<harness::Property> conjugate_gradient_properties<NoiseModel::poisson>();

}  // namespace rankcheck::cases
