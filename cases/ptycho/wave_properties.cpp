#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

#include "reference/ptycho/spectrum.hpp"
#include "reference/ptycho/window.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/properties/same_bits.hpp"

#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/properties.hpp"

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

/// Whether no frequency is so high that it decays.
bool all_travel(const spec::Contract&, const harness::Case& c) {
  return ptycho(c).scene.wavelength < 1.4;
}

void use_short_waves(const spec::Contract&, harness::Case& c) {
  if (ptycho(c).scene.wavelength >= 1.4) ptycho(c).scene.wavelength /= 16;
}

/// Stages 0 and 1 travel one after the other. Stage 2 travels both distances at once.
void check_distances(const harness::Evidence& evidence, harness::Judgement& judgement) {
  const OperatorStage first = read_stage(evidence, 0);
  OperatorStage second = read_stage(evidence, 1);
  const OperatorStage both = read_stage(evidence, 2);
  second.in[Array::waves] = first.expected[Array::waves];
  reference_of(second.c.operation)(second.in, second.expected);
  compare_outputs(
      both, "differs from two shorter distances", judgement, [&](Array array, std::size_t i) {
        return ExpectedValue{second.got[array].values[i],
                             second.expected[array].errors[i] + both.expected[array].errors[i]};
      });
}

/// Stage 0 is extract, stage 1 is illuminate.
void check_patch_times_probe(const harness::Evidence& evidence, harness::Judgement& judgement) {
  const OperatorStage extracted = read_stage(evidence, 0);
  const OperatorStage lit = read_stage(evidence, 1);
  const reference::BoundedArray& patches = extracted.got[Array::patches];
  const reference::BoundedArray& probe = lit.in[Array::probe];
  std::vector<ExpectedValue> waves(lit.got[Array::waves].values.size());
  reference::for_each_lit_pixel(lit.in, [&](const reference::LitPixel& pixel) {
    const std::complex<double> factor = probe.values[pixel.in_probe];
    const std::complex<double> value = patches.values[pixel.in_patches] * factor;
    const double rounding = is_exact(lit.contract, lit.c) ? 0 : 0x1p-51 * std::abs(value);
    waves[pixel.in_waves] = {
        .value = value,
        .bound = lit.expected[Array::waves].errors[pixel.in_waves] + rounding +
                 extracted.expected[Array::patches].errors[pixel.in_patches] * std::abs(factor)};
  });
  compare_outputs(lit, "differs from patch times probe", judgement, [&](Array, std::size_t i) {
    return waves[i];
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

harness::Property is_undone_by_the_way_back() {
  harness::Property property = is_undone(
      "is_undone_by_the_way_back",
      "If no frequency is evanescent, propagating back over the same distance returns the input.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        stages.assign(2, c);
        ptycho(stages[1]).scene.distance = -ptycho(c).scene.distance;
        ptycho(stages[1]).chained = true;
      });
  property.applies = all_travel;
  property.adapt = use_short_waves;
  return property;
}

harness::Property conserves_energy_of_short_waves() {
  harness::Property property = conserves_energy();
  property.applies = all_travel;
  property.adapt = use_short_waves;
  return property;
}

harness::Property adds_distances() {
  return {
      .name = "adds_distances",
      .summary =
          "Propagating over one distance and then over another gives the same as propagating over "
          "their sum.",
      .program =
          [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
            stages.assign(3, c);
            ptycho(stages[1]).scene.distance = ptycho(c).scene.distance / 2;
            ptycho(stages[1]).chained = true;
            ptycho(stages[2]).scene.distance =
                ptycho(c).scene.distance + ptycho(c).scene.distance / 2;
          },
      .check = check_distances,
  };
}

harness::Property is_patch_times_probe() {
  return {
      .name = "is_patch_times_probe",
      .summary = "illuminate(o, p) is extract(o) times p in the window and 0 around the window.",
      .program = plan_behind<"extract">,
      .check = check_patch_times_probe,
  };
}

}  // namespace rankcheck::cases
