#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/pixels.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/properties.hpp"
#include "cases/ptycho/stage.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Evidence;
using harness::Judgement;
using reference::BoundedArray;
using reference::OperatorArrays;
using reference::PixelWaves;
using spec::Array;

/// The smallest intensity in the Poisson cost, from the cost's contract.
constexpr double floor_intensity = 1e-9;

void plan_derivative(const spec::Contract&, const Case& c, std::vector<Case>& stages) {
  stages.assign(2, c);
  for (Case& stage : stages)
    ptycho(stage).varied = c.data_seed % 2 == 0 ? Array::object : Array::probe;
  stages[1].added_seed = c.data_seed + 1;
  // The step is large enough for the cost to change by more than its rounding errors, and small
  // enough for its curvature not to matter.
  ptycho(stages[1]).halvings = c.type == spec::Type::f64 ? 20 : 10;
}

/// Bounds the change of a pixel's cost beyond its derivative. The measured intensity is d. The
/// vector of the modes' waves has length `from` and changes by a vector of length `by`, along a
/// straight line. r is the smallest length on this line:
/// - gaussian: |F|^2 contributes by^2. -2 sqrt(d) |F| takes away at least 0 and at most the smaller
///   of sqrt(d) by^2 / r and 4 sqrt(d) by;
/// - poisson: the second derivative is at most 2 by^2 (1 + d / (r^2 + e)).
double curvature(NoiseModel noise, double d, double from, double by) {
  const double nearest = std::max(0.0, from - by);
  if (noise == NoiseModel::poisson) {
    return by * by * (1 + d / (nearest * nearest + floor_intensity));
  }
  const double bend = by < 4 * nearest ? by / nearest : 4;
  return std::max(by * by, std::sqrt(d) * by * bend);
}

/// Bounds the derivative in the vector of the modes' waves, whose length is in `least` ... `most`.
double slope(NoiseModel noise, double d, double least, double most) {
  if (noise == NoiseModel::gaussian) return most + std::sqrt(d);
  return most * (1 + d / (least * least + floor_intensity));
}

/// Returns the waves at the detector, with the errors of double precision only.
BoundedArray far_waves(OperatorArrays arrays) {
  arrays.unit = 0x1p-52;
  OperatorArrays far = arrays;
  forward(arrays, far);
  return far[Array::far_waves];
}

/// Returns the first-order change of the waves at the detector. The waves are linear in the probe
/// and in each slice.
BoundedArray first_order(const OperatorArrays& from, Array block, const BoundedArray& change) {
  OperatorArrays one = from;
  if (block == Array::probe) {
    one[block] = change;
    return far_waves(one);
  }
  const auto slices = spec::to_size(from.scene.slices);
  const std::size_t size = change.values.size() / slices;
  BoundedArray total;
  for (std::size_t s = 0; s < slices; ++s) {
    one[block] = from[block];
    const auto at = static_cast<std::ptrdiff_t>(s * size);
    std::copy_n(change.values.begin() + at, size, one[block].values.begin() + at);
    const BoundedArray waves = far_waves(one);
    if (s == 0) total.resize(waves.values.size());
    for (std::size_t i = 0; i < waves.values.size(); ++i) {
      total.values[i] += waves.values[i];
      total.errors[i] += waves.errors[i];
    }
  }
  return total;
}

/// Bounds the change of the cost of all measured pixels beyond its derivative.
double beyond_derivative(NoiseModel noise,
                         const OperatorArrays& from,
                         const OperatorArrays& to,
                         Array block,
                         const BoundedArray& change) {
  OperatorArrays before = from;
  before[Array::far_waves] = far_waves(from);
  const BoundedArray& old_waves = before[Array::far_waves];
  const BoundedArray new_waves = far_waves(to);
  const BoundedArray begun = first_order(from, block, change);
  double sum = 0;
  const auto add = [&](std::size_t pixel, std::size_t i, const PixelWaves& at, const auto& wave) {
    if (from[Array::mask].values[i].real() == 0) return;
    double by = 0;
    double bent = 0;
    for (std::size_t m = 0; m < spec::to_size(from.scene.modes); ++m) {
      const std::size_t w = wave(m);
      const std::complex<double> step = new_waves.values[w] - old_waves.values[w];
      const double error = new_waves.errors[w] + old_waves.errors[w];
      by = std::hypot(by, std::abs(step) + error);
      bent = std::hypot(bent, std::abs(step - begun.values[w]) + error + begun.errors[w]);
    }
    const double d = from[Array::frames].values[pixel].real();
    const double least = std::max(0.0, at.amplitude - at.error);
    sum +=
        curvature(noise, d, least, by) + 2 * slope(noise, d, least, at.amplitude + at.error) * bent;
  };
  for_each_pixel(before, add);
  return sum;
}

template <NoiseModel noise>
void check_derivative(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage from = read_stage(evidence, 0);
  const OperatorStage to = read_stage(evidence, 1);
  const Array block = ptycho(to.c).varied;
  // The differences are exact, because they are multiples of 2^-44.
  BoundedArray change = to.in[block];
  for (std::size_t i = 0; i < change.values.size(); ++i) {
    change.values[i] -= from.in[block].values[i];
  }
  const double got = (to.got[Array::cost].values[0] - from.got[Array::cost].values[0]).real();
  const ExpectedValue slope = inner_product_of(from, block, change);
  const double bound = beyond_derivative(noise, from.in, to.in, block, change) + 2 * slope.bound +
                       from.expected[Array::cost].errors[0] + to.expected[Array::cost].errors[0];
  compare_numbers(from,
                  {.name = "the change of the cost", .value = got},
                  {.name = "2 Re<gradient, change>", .value = 2 * slope.value.real()},
                  bound,
                  judgement);
}

void check_balance(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage stage = read_stage(evidence, 0);
  const auto slices = spec::to_size(ptycho(stage.c).scene.slices);
  const ExpectedValue probe = inner_product_of(stage, Array::probe, stage.in[Array::probe]);
  for (std::size_t s = 0; s < slices; ++s) {
    const ExpectedValue object =
        inner_product_of(stage, Array::object, stage.in[Array::object], s, slices);
    compare_numbers(stage,
                    {.name = "<object gradient, object>", .value = object.value},
                    {.name = "Re<probe gradient, probe>", .value = probe.value.real()},
                    object.bound + probe.bound,
                    judgement);
  }
}

}  // namespace

template <NoiseModel noise>
harness::Property has_derivative() {
  return {
      .name = "has_derivative",
      .summary =
          "The cost changes by 2 Re<gradient, change>, up to a term that its curvature bounds.",
      .program = plan_derivative,
      .check = check_derivative<noise>,
  };
}

template harness::Property has_derivative<NoiseModel::gaussian>();
template harness::Property has_derivative<NoiseModel::poisson>();

harness::Property balances_object_and_probe() {
  return {
      .name = "balances_object_and_probe",
      .summary = "<object gradient, object> = <probe gradient, probe>, and it is real.",
      .program = plan_once,
      .check = check_balance,
  };
}

}  // namespace rankcheck::cases
