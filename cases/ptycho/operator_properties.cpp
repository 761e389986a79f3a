#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/properties/nearly_equal.hpp"

#include "cases/families/ptycho/inputs.hpp"
#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/properties.hpp"
#include "cases/ptycho/stage.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Evidence;
using harness::InputKind;
using harness::Judgement;
using harness::Verdict;
using reference::BoundedArray;
using spec::Array;

using Value = std::complex<double>;

/// Judges the last stage against the reference.
void check_reference(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage stage =
      read_stage(evidence, evidence.stages.size() - 1, reference::Follow::results);
  for (const Array array : ptycho(stage.contract).outputs) {
    if (stage.expected[array].values.size() == stage.got[array].values.size()) continue;
    judgement.fail(Verdict::errored, "the reference does not define every output");
    return;
  }
  compare_outputs(stage, "differs from the reference", judgement, [&](Array array, std::size_t i) {
    const BoundedArray& expected = stage.expected[array];
    return ExpectedValue{expected.values[i], expected.errors[i]};
  });
}

/// Returns the outputs for dark frames. They give the scale of outputs that are nearly 0 if the
/// frames are the modelled intensities.
reference::OperatorArrays with_dark_frames(const OperatorStage& stage) {
  reference::OperatorArrays dark = stage.in;
  dark.make(Array::frames);
  reference::OperatorArrays outputs = dark;
  reference_of(stage.c.operation)(dark, outputs);
  return outputs;
}

void check_reference_at_the_truth(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage stage =
      read_stage(evidence, evidence.stages.size() - 1, reference::Follow::results);
  const reference::OperatorArrays wrong = with_dark_frames(stage);
  const auto expected = [&](Array array, std::size_t i) -> std::optional<ExpectedValue> {
    // Near the solution, rounding errors decide the step lengths.
    if (array == Array::step_lengths) return std::nullopt;
    const BoundedArray& bounded = stage.expected[array];
    return ExpectedValue{bounded.values[i], bounded.errors[i]};
  };
  compare_outputs(stage, "differs from the reference", judgement, expected, &wrong);
}

void check_adjoint(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage forward = read_stage(evidence, 0);
  const OperatorStage adjoint = read_stage(evidence, 1);
  const Array x = ptycho(adjoint.contract).outputs.front();
  const Array y = ptycho(forward.contract).outputs.front();
  const Value left = inner_product(forward.got[y], adjoint.in[y]);
  const Value right = inner_product(forward.in[x], adjoint.got[x]);
  // Both sides are exact for whole numbers, in any order of summation.
  const bool exact = is_exact(forward.contract, forward.c) && is_exact(adjoint.contract, adjoint.c);
  const double bound = exact ? 0
                             : inner_product_bound(forward.expected[y], adjoint.in[y]) +
                                   inner_product_bound(adjoint.expected[x], forward.in[x]);
  compare_numbers(forward,
                  {.name = "<F x, y>", .value = left},
                  {.name = "<x, F* y>", .value = right},
                  bound,
                  judgement);
}

void plan_linear(const spec::Contract& contract, const Case& c, std::vector<Case>& stages) {
  constexpr std::array scales{-2, -1, 2};
  stages.assign(3, c);
  const auto& arrays = ptycho(contract).linear_in;
  for (Case& stage : stages) ptycho(stage).varied = arrays[c.data_seed % arrays.size()];
  stages[0].scale = scales[c.data_seed / arrays.size() % scales.size()];
  stages[0].added_seed = c.data_seed + 1;
  stages[2].scale = 0;
  stages[2].added_seed = c.data_seed + 1;
}

void check_linear(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage combined = read_stage(evidence, 0);
  const OperatorStage first = read_stage(evidence, 1);
  const OperatorStage second = read_stage(evidence, 2);
  const double scale = combined.c.scale;
  compare_outputs(combined,
                  "F(s a + b) differs from s F(a) + F(b)",
                  judgement,
                  [&](Array array, std::size_t i) {
                    return ExpectedValue{
                        scale * first.got[array].values[i] + second.got[array].values[i],
                        combined.expected[array].errors[i] +
                            std::abs(scale) * first.expected[array].errors[i] +
                            second.expected[array].errors[i]};
                  });
}

/// Returns another distribution of the same number of positions over the ranks.
std::vector<std::int64_t> other_counts(const Case& c) {
  std::vector<std::int64_t> counts = c.counts;
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const std::size_t chosen = c.data_seed % counts.size();
  switch (c.data_seed / counts.size() % 3) {
    case 0:
      std::fill(counts.begin(), counts.end(), 0);
      counts[chosen] = total;
      break;
    case 1:
      std::rotate(
          counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(chosen), counts.end());
      break;
    default:
      for (std::size_t r = 0; r < counts.size(); ++r) {
        counts[r] = harness::nearly_equal_count(total, counts.size(), r);
      }
  }
  return counts;
}

/// Judges the second of two stages that must have the same result.
void compare_stages(const RelatedStages& stages, std::string_view what, Judgement& judgement) {
  compare_outputs(stages.second, what, judgement, [&](Array array, std::size_t i) {
    return ExpectedValue{
        stages.base(array, i) + stages.taken(array, i),
        stages.first.expected[array].errors[i] + stages.second.expected[array].errors[i]};
  });
}

void check_partition(const Evidence& evidence, Judgement& judgement) {
  compare_stages(
      read_related(evidence, 0, 1), "differs from the result of another partition", judgement);
}

/// Plans the case, then the case with one rank less: another rank gets the positions of the missing
/// rank too.
void plan_refined(const spec::Contract&, const Case& c, std::vector<Case>& stages) {
  stages.assign(2, c);
  Case& coarse = stages[1];
  const std::size_t merged = 1 + c.data_seed % (c.counts.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(merged);
  coarse.counts[merged - 1] += coarse.counts[merged];
  coarse.counts.erase(coarse.counts.begin() + at);
  coarse.group = members(c);
  coarse.group.erase(coarse.group.begin() + at);
}

void check_refined(const Evidence& evidence, Judgement& judgement) {
  compare_stages(read_related(evidence, 1, 0), "differs from the result on fewer ranks", judgement);
}

/// Whether the case's frames have an unmeasured pixel.
bool has_unmeasured_pixel(const Case& c) {
  if (std::count(c.counts.begin(), c.counts.end(), 0) == std::ssize(c.counts)) return false;
  Case drawn = c;
  drawn.type = spec::Type::f32;
  std::vector<float> mask(spec::to_size(spec::values(ptycho(c).scene, Array::mask)));
  fill_array(drawn,
             {.count = std::ssize(mask), .array = Array::mask},
             reinterpret_cast<std::byte*>(mask.data()));
  return std::find(mask.begin(), mask.end(), 0.0F) != mask.end();
}

void check_unmeasured(const Evidence& evidence, Judgement& judgement) {
  for (int rank = 0; rank < harness::group_size(evidence.stages[0]); ++rank) {
    expect_same_output(evidence, 1, rank, "unmeasured pixels change the result", judgement);
  }
}

void check_undone(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage first = read_stage(evidence, 0);
  OperatorStage second = read_stage(evidence, 1);
  // The bound of the second stage includes the errors of the first stage.
  const Array between = ptycho(first.contract).outputs.front();
  second.in[between] = first.expected[between];
  if (!is_exact(second.contract, second.c)) {
    reference_of(second.c.operation)(second.in, second.expected);
  }
  compare_outputs(second, "differs from the input", judgement, [&](Array array, std::size_t i) {
    return ExpectedValue{first.in[array].values[i], second.expected[array].errors[i]};
  });
}

enum class Loss { none, admitted };

template <Loss loss>
void check_energy(const Evidence& evidence, Judgement& judgement) {
  const OperatorStage stage = read_stage(evidence, 0);
  const Array output = ptycho(stage.contract).outputs.front();
  const BoundedArray& in = stage.in[ptycho(stage.contract).linear_in.front()];
  const BoundedArray& got = stage.got[output];
  const BoundedArray& expected = stage.expected[output];
  const auto frame = spec::to_size(ptycho(stage.c).scene.detector * ptycho(stage.c).scene.detector);
  harness::PowerMeter meter;
  for (std::size_t first = 0; first < got.values.size(); first += frame) {
    double before = 0;
    double after = 0;
    double bound = 0;
    for (std::size_t i = first; i < first + frame; ++i) {
      before += std::norm(in.values[i]);
      after += std::norm(got.values[i]);
      bound += (2 * std::abs(got.values[i]) + expected.errors[i]) * expected.errors[i];
    }
    bound += (static_cast<double>(frame) + 2) * 0x1p-53 * (before + after);
    judgement.count_all(harness::group_size(stage.c),
                        2 * static_cast<std::int64_t>(frame) * spec::info(stage.c.type).bytes);
    const double gain = after - before;
    const double error = loss == Loss::admitted ? std::max(gain, 0.0) : std::abs(gain);
    if (bound > 0) judgement.ratio_max = std::max(judgement.ratio_max, error / bound);
    meter.add(std::max(before, after), bound);
    if (error <= bound) continue;
    judgement.fail(Verdict::falsified,
                   fmt::format("frame {}: an energy of {:.9g} became {:.9g}, bound {:.3g}",
                               first / frame,
                               before,
                               after,
                               bound));
  }
  judgement.see(meter, "the energy");
}

}  // namespace

void plan_once(const spec::Contract&, const Case& c, std::vector<Case>& stages) {
  stages.assign(1, c);
}

harness::Property operator_agrees_with_reference() {
  return {
      .name = "agrees_with_reference",
      .summary = "Every output equals the reference, bit by bit or within the bound.",
      .program = plan_once,
      .check = check_reference,
  };
}

harness::Property agrees_at_the_truth() {
  return {
      .name = "agrees_at_the_truth",
      .summary =
          "If the frames are the modelled intensities, every output still agrees with the "
          "reference.",
      .program =
          [](const spec::Contract& contract, const Case& c, std::vector<Case>& stages) {
            plan_behind<"intensity">(contract, c, stages);
            ptycho(stages[1]).chained = true;
          },
      .check = check_reference_at_the_truth,
  };
}

harness::Property is_linear_in_each_array() {
  return {
      .name = "is_linear",
      .summary = "F(s a + b) = s F(a) + F(b), for every array in which the operator is linear.",
      .program = plan_linear,
      .check = check_linear,
  };
}

harness::Property has_adjoint(std::string_view name,
                              std::string_view summary,
                              void (*program)(const spec::Contract&,
                                              const Case&,
                                              std::vector<Case>&)) {
  return {.name = name, .summary = summary, .program = program, .check = check_adjoint};
}

harness::Property is_undone(std::string_view name,
                            std::string_view summary,
                            void (*program)(const spec::Contract&,
                                            const Case&,
                                            std::vector<Case>&)) {
  return {.name = name, .summary = summary, .program = program, .check = check_undone};
}

harness::Property conserves_energy() {
  return {
      .name = "conserves_energy",
      .summary = "The sum of a frame's squared magnitudes stays the same.",
      .program = plan_once,
      .check = check_energy<Loss::none>,
  };
}

harness::Property gains_no_energy() {
  return {
      .name = "gains_no_energy",
      .summary = "The sum of a frame's squared magnitudes does not grow.",
      .program = plan_once,
      .check = check_energy<Loss::admitted>,
  };
}

harness::Property is_independent_of_partition() {
  return {
      .name = "is_independent_of_partition",
      .summary = "The result does not depend on how the positions are distributed over the ranks.",
      .applies = [](const spec::Contract&, const Case& c) { return harness::group_size(c) > 1; },
      .program =
          [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
            stages.assign(2, c);
            stages[1].counts = other_counts(c);
          },
      .check = check_partition,
  };
}

harness::Property is_independent_of_refinement() {
  return {
      .name = "is_independent_of_refinement",
      .summary = "Merging two ranks' positions into one rank does not change the result.",
      .applies = [](const spec::Contract&, const Case& c) { return harness::group_size(c) > 1; },
      .program = plan_refined,
      .check = check_refined,
  };
}

harness::Property ignores_unmeasured_pixels() {
  return {
      .name = "ignores_unmeasured_pixels",
      .summary =
          "NaN, infinities and huge numbers in unmeasured pixels do not change any bit of the "
          "result.",
      .applies = [](const spec::Contract&, const Case& c) { return has_unmeasured_pixel(c); },
      .adapt = [](const spec::Contract&, Case& c) { c.input = InputKind::special; },
      .program =
          [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
            stages.assign(2, c);
            stages[0].input = InputKind::general;
            // Old cases, which were drawn before this property chose its inputs, need this too.
            stages[1].input = InputKind::special;
          },
      .check = check_unmeasured,
  };
}

}  // namespace rankcheck::cases
