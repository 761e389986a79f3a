#include <cmath>
#include <complex>
#include <optional>
#include <string>
#include <utility>

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
using spec::Array;

/// Returns the factor of an output on top of the transformation of arrays with its name.
double scale_of(Outputs outputs, const Case& c, Array array, std::size_t index) {
  const bool is_sum = outputs == Outputs::sums || array == Array::cost;
  if (ptycho(c).symmetry == Symmetry::repeated) {
    return is_sum && !spec::is_per_position(ptycho(c).scene, array) ? 2 : 1;
  }
  // Doubled amplitudes have four times the cost.
  if (ptycho(c).symmetry == Symmetry::brightened) {
    return array == Array::cost || (is_sum && array == Array::object) ? 4 : 1;
  }
  if (ptycho(c).symmetry != Symmetry::stretched) return 1;
  // Gradients shrink as values grow, because their product is a change of the cost.
  const bool is_first = index < spec::to_size(ptycho(c).scene.rows * ptycho(c).scene.cols);
  if (is_sum && array == Array::object) return is_first ? 0.25 : 1;
  if (is_sum && array == Array::probe) return 4;
  // The index belongs to the probe's step length. Its direction is a gradient.
  return array == Array::step_lengths && index == 1 ? 0.25 : 1;
}

std::optional<ExpectedValue> expected_value(const RelatedStages& stages,
                                            double scale,
                                            Array array,
                                            std::size_t index) {
  const OperatorStage& transformed = stages.second;
  const TransformedValue source = transform(ptycho(transformed.c).symmetry,
                                            ptycho(transformed.c).scene,
                                            transformed.in.positions,
                                            array,
                                            static_cast<std::int64_t>(index));
  if (source.count == 0) return std::nullopt;
  double error = 0;
  std::string wrong_source;
  const auto& plain = stages.first.expected[array];
  for (const auto& term : std::span(source.terms).first(source.count)) {
    error += std::abs(term.factor) * plain.errors[term.index];
    const auto got = stages.first.got[array].values[term.index];
    if (std::abs(got - plain.values[term.index]) > plain.errors[term.index]) {
      wrong_source = place_of(stages.first, array, term.index);
    }
  }
  const auto value = [&](std::size_t i) { return stages.taken(array, i); };
  return ExpectedValue{.value = stages.base(array, index) + scale * source.value(value),
                       .bound = transformed.expected[array].errors[index] + scale * error,
                       .wrong_source = std::move(wrong_source)};
}

void plan_transformed(Symmetry symmetry, const Case& c, std::vector<Case>& stages) {
  stages.assign(2, c);
  for (Case& stage : stages) {
    // With this array varied, sums of two modes are exact.
    if (symmetry == Symmetry::mixed) ptycho(stage).varied = Array::probe;
    // Interpolation between pixels flattens a phase ramp.
    if (symmetry == Symmetry::ramped || symmetry == Symmetry::periodic)
      ptycho(stage).scan = Scan::whole;
  }
  if (symmetry == Symmetry::periodic) ptycho(stages[0]).symmetry = Symmetry::raster;
  ptycho(stages[1]).symmetry = symmetry;
  ptycho(stages[1]).scene = transformed_scene(symmetry, ptycho(c).scene);
}

/// Judges the pixels of windows that are interpolated only from pixels of the object.
void check_bilinear(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage stage = read_stage(evidence, 0);
  const spec::Scene& scene = ptycho(stage.c).scene;
  const auto& positions = stage.in[Array::positions].values;
  const auto window = spec::to_size(scene.window);
  const auto margin = spec::to_size(spec::margin(scene));
  const auto width = spec::to_size(scene.detector);
  const auto is_there = [&](Array array, std::size_t i) -> std::optional<ExpectedValue> {
    const std::size_t n = i / (width * width);
    const double row = positions[2 * n].real() + static_cast<double>(i / width % width) -
                       static_cast<double>(margin);
    const double col =
        positions[2 * n + 1].real() + static_cast<double>(i % width) - static_cast<double>(margin);
    const auto is_lit = [&](std::size_t at) { return at - margin < window; };
    const bool is_inside = is_lit(i / width % width) && is_lit(i % width) && row >= 0 && col >= 0 &&
                           row <= scene.rows - 1 && col <= scene.cols - 1;
    if (!is_inside) return std::nullopt;
    // The polynomial is exact, because its terms are products of whole numbers and 256ths.
    return ExpectedValue{bilinear_value(row, col), stage.expected[array].errors[i]};
  };
  compare_outputs(stage, "differs from the bilinear object", judgement, is_there);
}

}  // namespace

void plan_transformed(std::span<const Symmetry> symmetries,
                      const Case& c,
                      std::vector<Case>& stages) {
  plan_transformed(symmetries[c.data_seed % symmetries.size()], c, stages);
}

template <Outputs outputs>
void check_transformed(const Evidence& evidence, Judgement& judgement) {
  const RelatedStages stages = read_related(evidence, 0, 1);
  const Case& c = stages.second.c;
  const std::string what =
      "does not follow the inputs, which are " + std::string(name(ptycho(c).symmetry));
  compare_outputs(stages.second, what, judgement, [&](Array array, std::size_t i) {
    return expected_value(stages, scale_of(outputs, c, array, i), array, i);
  });
}

template void check_transformed<Outputs::sums>(const Evidence& evidence, Judgement& judgement);
template void check_transformed<Outputs::states>(const Evidence& evidence, Judgement& judgement);

harness::Property is_independent_of_order() {
  return {
      .name = "is_independent_of_order",
      .summary = "Reversing the order of the positions does not change the result.",
      .program = [](const spec::Contract&,
                    const Case& c,
                    std::vector<Case>& stages) { plan_transformed(Symmetry::reversed, c, stages); },
      .check = check_transformed<Outputs::states>,
  };
}

template <Outputs outputs>
harness::Property counts_every_position() {
  return {
      .name = "counts_every_position",
      .summary =
          "Repeating every position doubles the sums over the positions and changes nothing else.",
      .program =
          [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
            plan_transformed(Symmetry::repeated, c, stages);
            for (std::int64_t& count : stages[1].counts) count *= 2;
          },
      .check = check_transformed<outputs>,
  };
}

template harness::Property counts_every_position<Outputs::sums>();
template harness::Property counts_every_position<Outputs::states>();

template <Outputs outputs>
harness::Property keeps_the_raster_ambiguity() {
  return {
      .name = "keeps_the_raster_ambiguity",
      .summary =
          "On a raster scan, phases with the raster's period may move from the probe to the object "
          "without an effect.",
      .program = [](const spec::Contract&,
                    const Case& c,
                    std::vector<Case>& stages) { plan_transformed(Symmetry::periodic, c, stages); },
      .check = check_transformed<outputs>,
  };
}

template harness::Property keeps_the_raster_ambiguity<Outputs::sums>();
template harness::Property keeps_the_raster_ambiguity<Outputs::states>();

harness::Property is_exact_on_bilinear_objects() {
  return {
      .name = "is_exact_on_bilinear_objects",
      .summary = "An object of the form a + b y + c x + d x y is interpolated exactly.",
      .program =
          [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
            stages.assign(1, c);
            ptycho(stages[0]).symmetry = Symmetry::bilinear;
          },
      .check = check_bilinear,
  };
}

}  // namespace rankcheck::cases
