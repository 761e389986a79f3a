#include "cases/ptycho/shift_properties.hpp"

#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

#include "reference/ptycho/spectrum.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/properties/is_deterministic.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/symmetry.hpp"
#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/operator_properties.hpp"
#include "cases/ptycho/position_properties.hpp"

namespace rankcheck::cases {

namespace {

using reference::BoundedArray;
using spec::Array;

void check_rolled(const harness::Evidence& evidence, harness::Judgement& judgement) {
  const OperatorStage stage = read_stage(evidence, 0);
  const BoundedArray& waves = stage.in[Array::waves];
  const BoundedArray& positions = stage.in[Array::positions];
  const auto width = spec::to_size(ptycho(stage.c).scene.detector);
  const auto modes = spec::to_size(ptycho(stage.c).scene.modes);
  // Returns the coordinate of the pixel that the shift moves to this coordinate.
  const auto before = [&](std::size_t pixel, double distance) {
    const double from = static_cast<double>(pixel) - distance;
    const double turns = std::floor(from / static_cast<double>(width));
    return static_cast<std::size_t>(from - turns * static_cast<double>(width));
  };
  compare_outputs(stage, "is not rolled", judgement, [&](Array array, std::size_t i) {
    const std::size_t frame = i / (width * width);
    const std::size_t position = 2 * (frame / modes);
    const std::size_t row = before(i / width % width, positions.values[position].real());
    const std::size_t col = before(i % width, positions.values[position + 1].real());
    return ExpectedValue{waves.values[(frame * width + row) * width + col],
                         stage.expected[array].errors[i]};
  });
}

/// Stage 0 propagates. Stage 1 shifts, and stage 2 propagates its result.
void check_ramp(const harness::Evidence& evidence, harness::Judgement& judgement) {
  const OperatorStage plain = read_stage(evidence, 0);
  const OperatorStage shifted = read_stage(evidence, 1);
  OperatorStage far = read_stage(evidence, 2);
  far.in[Array::waves] = shifted.expected[Array::waves];
  reference_of(far.c.operation)(far.in, far.expected);
  const BoundedArray& positions = shifted.in[Array::positions];
  const int width = ptycho(far.c).scene.detector;
  const auto frame = spec::to_size(width) * spec::to_size(width);
  const auto modes = spec::to_size(ptycho(far.c).scene.modes);
  compare_outputs(far, "is not a phase ramp", judgement, [&](Array array, std::size_t i) {
    const std::size_t position = 2 * (i / frame / modes);
    const double rows = reference::frequency(static_cast<int>(i % frame) / width, width) *
                        positions.values[position].real();
    const double cols = reference::frequency(static_cast<int>(i % frame) % width, width) *
                        positions.values[position + 1].real();
    const double turns = rows + cols;
    const std::complex<double> value = plain.got[array].values[i];
    const double rounding = 0x1p-53 * (4 + 40 * (std::abs(rows) + std::abs(cols)));
    return ExpectedValue{value * std::polar(1.0, -2 * std::numbers::pi * turns),
                         plain.expected[array].errors[i] + far.expected[array].errors[i] +
                             rounding * std::abs(value)};
  });
}

}  // namespace

harness::Property rolls_by_whole_positions() {
  return {
      .name = "rolls_by_whole_positions",
      .summary = "A shift by whole pixels moves the pixels cyclically.",
      .adapt = [](const spec::Contract&, harness::Case& c) { ptycho(c).scan = Scan::whole; },
      .program =
          [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
            stages.assign(1, c);
            ptycho(stages[0]).scan = Scan::whole;
          },
      .check = check_rolled,
  };
}

harness::Property is_a_phase_ramp_at_the_detector() {
  return {
      .name = "is_a_phase_ramp_at_the_detector",
      .summary = "propagate(shift(x)) is propagate(x) times the phase ramp of the shift.",
      .program =
          [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
            stages.assign(3, c);
            for (const std::size_t stage : {0, 2}) {
              stages[stage].operation = "propagate";
              stages[stage].algorithm.clear();
            }
            ptycho(stages[2]).chained = true;
          },
      .check = check_ramp,
  };
}

}  // namespace rankcheck::cases
