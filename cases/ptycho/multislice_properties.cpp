#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "reference/ptycho/references.hpp"
#include "reference/ptycho/window.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/properties.hpp"
#include "cases/ptycho/stage.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Evidence;
using harness::Judgement;
using harness::Verdict;
using reference::BoundedArray;
using spec::Array;

constexpr double double_unit = 0x1p-53;

/// Stage 0 is multislice, and stage 1 is its adjoint in the object.
void check_adjoint_of_slices(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage forward = read_stage(evidence, 0);
  const OperatorStage back = read_stage(evidence, 1);
  const ExpectedValue left = inner_product_of(forward, Array::waves, back.in[Array::waves]);
  const auto slices = spec::to_size(ptycho(forward.c).scene.slices);
  const std::size_t size = back.got[Array::object].values.size() / slices;
  for (std::size_t s = 0; s < slices; ++s) {
    ExpectedValue right =
        inner_product_of(back, Array::object, forward.in[Array::object], s, slices);
    right.value = std::conj(right.value);
    judgement.count_all(harness::group_size(forward.c),
                        2 * static_cast<std::int64_t>(size) * spec::info(forward.c.type).bytes);
    const double error = std::abs(left.value - right.value);
    const double bound = left.bound + right.bound;
    if (bound > 0) judgement.ratio_max = std::max(judgement.ratio_max, error / bound);
    judgement.see(std::max(std::abs(left.value), std::abs(right.value)), bound, "<F o, y>");
    if (error <= bound) continue;
    judgement.fail(Verdict::falsified,
                   fmt::format("slice {}: <F o, y> = {:.9g}{:+.9g}i, <o_s, (F* y)_s> = "
                               "{:.9g}{:+.9g}i: they differ by {:.3g}, bound {:.3g}",
                               s,
                               left.value.real(),
                               left.value.imag(),
                               right.value.real(),
                               right.value.imag(),
                               error,
                               bound));
  }
}

/// Judges whether every output of the last stage is `factor` times the output of the first stage.
void check_multiple(const Evidence& evidence,
                    double factor,
                    std::string_view what,
                    Judgement& judgement) {
  const OperatorStage first = read_stage(evidence, 0);
  const OperatorStage last = read_stage(evidence, 1);
  compare_outputs(last, what, judgement, [&](Array array, std::size_t i) {
    return ExpectedValue{
        factor * first.got[array].values[i],
        std::abs(factor) * first.expected[array].errors[i] + last.expected[array].errors[i]};
  });
}

/// Returns the product over all slices of a position's windows, in the layout of patches.
BoundedArray product_of_slices(const OperatorStage& stage) {
  reference::OperatorArrays slice = stage.in;
  slice.scene.slices = 1;
  BoundedArray product;
  const BoundedArray& object = stage.in[Array::object];
  const std::size_t size = slice.size(Array::object);
  for (std::size_t first = 0; first < object.values.size(); first += size) {
    slice.make(Array::object);
    std::copy_n(object.values.begin() + static_cast<std::ptrdiff_t>(first),
                size,
                slice[Array::object].values.begin());
    reference::extract::reference(slice, slice);
    const BoundedArray& patches = slice[Array::patches];
    if (first == 0) {
      product = patches;
      continue;
    }
    for (std::size_t i = 0; i < product.values.size(); ++i) product.values[i] *= patches.values[i];
  }
  return product;
}

void check_product(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage stage = read_stage(evidence, 0);
  const BoundedArray product = product_of_slices(stage);
  std::vector<ExpectedValue> waves(stage.got[Array::waves].values.size());
  reference::for_each_lit_pixel(stage.in, [&](const reference::LitPixel& pixel) {
    const std::complex<double> value =
        product.values[pixel.in_patches] * stage.in[Array::probe].values[pixel.in_probe];
    waves[pixel.in_waves] = {
        .value = value,
        .bound = stage.expected[Array::waves].errors[pixel.in_waves] +
                 16 * ptycho(stage.c).scene.slices * double_unit * std::abs(value)};
  });
  compare_outputs(
      stage, "differs from the product of the slices", judgement, [&](Array, std::size_t i) {
        return waves[i];
      });
}

}  // namespace

harness::Property has_adjoint_in_each_slice() {
  return {
      .name = "has_adjoint_in_each_slice",
      .summary = "<multislice(o, p), y> = <o_s, multislice_adjoint_object(y, o, p)_s> for every s.",
      .program = plan_then<"multislice_adjoint_object">,
      .check = check_adjoint_of_slices,
  };
}

harness::Property is_illuminate_for_one_slice() {
  return {
      .name = "is_illuminate_for_one_slice",
      .summary = "multislice of one slice is illuminate.",
      .applies = [](const spec::Contract&, const Case& c) { return ptycho(c).scene.slices == 1; },
      .adapt =
          [](const spec::Contract&, Case& c) {
            ptycho(c).scene.slices = 1;
            ptycho(c).scene.wavelength = ptycho(c).scene.distance = 0;
          },
      .program = plan_then<"illuminate">,
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            check_multiple(evidence, 1, "differs from illuminate", judgement);
          },
  };
}

harness::Property is_product_without_distance() {
  return {
      .name = "is_product_without_distance",
      .summary = "Slices without distance between them act as one slice, which is their product.",
      .applies = [](const spec::Contract&, const Case& c) { return ptycho(c).scene.distance == 0; },
      .adapt = [](const spec::Contract&, Case& c) { ptycho(c).scene.distance = 0; },
      .program = plan_once,
      .check = check_product,
  };
}

harness::Property has_degree_of_its_slices() {
  return {
      .name = "has_degree_of_its_slices",
      .summary = "Multiplying the object by s multiplies the waves by s once for each slice.",
      .program =
          [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
            stages.assign(2, c);
            for (Case& stage : stages) ptycho(stage).varied = Array::object;
            stages[1].scale = c.data_seed % 2 == 0 ? -1 : 2;
          },
      .check =
          [](const Evidence& evidence, Judgement& judgement) {
            const Case& scaled = evidence.stages[1];
            check_multiple(evidence,
                           std::pow(scaled.scale, ptycho(scaled).scene.slices),
                           "F(s o) differs from s^slices F(o)",
                           judgement);
          },
  };
}

}  // namespace rankcheck::cases
