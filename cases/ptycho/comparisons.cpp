#include "cases/ptycho/comparisons.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/shapes.hpp"

namespace rankcheck::cases {

namespace {

using harness::Judgement;
using harness::Verdict;
using reference::BoundedArray;
using spec::Array;

using Value = std::complex<double>;

std::string text_of(Array array, Value value) {
  if (!spec::info(array).is_complex) return fmt::format("{:.9g}", value.real());
  return fmt::format("{:.9g}{:+.9g}i", value.real(), value.imag());
}

/// Judges one value.
void compare(const OperatorStage& stage,
             Array array,
             std::size_t index,
             int rank,
             Value got,
             const ExpectedValue& expected,
             std::string_view what,
             Judgement& judgement) {
  if (!std::isfinite(expected.bound)) return;
  const std::int64_t numbers = spec::info(array).is_complex ? 2 : 1;
  const std::int64_t bytes = numbers * spec::info(stage.c.type).bytes;
  if (spec::is_replicated(ptycho(stage.c).scene, array)) {
    // The contract of every operator says that all ranks have the same bits.
    judgement.count_all(harness::group_size(stage.c), bytes);
  } else {
    judgement.count(rank, bytes);
  }
  const double error = std::abs(got - expected.value);
  if (expected.bound > 0 && error <= expected.bound) {
    judgement.ratio_max = std::max(judgement.ratio_max, error / expected.bound);
  }
  if (error <= expected.bound) return;
  judgement.fail(Verdict::falsified, std::string(what));
  ++judgement.wrong_count;
  if (judgement.wrong.size() >= harness::wrong_elements_max) return;
  list_wrong({stage.c, stage.index},
             {.rank = rank,
              .index = static_cast<std::int64_t>(index),
              .expected = text_of(array, expected.value),
              .got = text_of(array, got),
              .error = error,
              .bound = expected.bound,
              .decoded = expected.wrong_source.empty()
                             ? place_of(stage, array, index)
                             : fmt::format("{}, which follows from {} in the first call, which is "
                                           "wrong",
                                           place_of(stage, array, index),
                                           expected.wrong_source)},
             judgement);
}

/// Returns the rank that has a value; rank 0 if every rank has it.
int rank_of(const OperatorStage& stage, Array array, std::size_t index) {
  if (spec::is_replicated(ptycho(stage.c).scene, array)) return 0;
  int rank = 0;
  for (;; ++rank) {
    const spec::Part part = spec::part_of(ptycho(stage.c).scene, stage.c.counts, array, rank);
    if (static_cast<std::int64_t>(index) < part.first + part.count) return rank;
  }
}

/// Counts the compared values and the power of one number of a property. Returns whether the error
/// is within the bound.
bool judge_number(const OperatorStage& stage,
                  const Named& number,
                  double scale,
                  double error,
                  double bound,
                  Judgement& judgement) {
  judgement.see(scale, bound, number.name);
  if (std::isinf(bound)) return true;
  const auto outputs = stage.got[ptycho(stage.contract).outputs.front()].values.size();
  judgement.count_all(harness::group_size(stage.c),
                      static_cast<std::int64_t>(outputs) * spec::info(stage.c.type).bytes);
  if (bound > 0) judgement.ratio_max = std::max(judgement.ratio_max, error / bound);
  return error <= bound;
}

/// The number with four digits, so that a report stays short.
double in_short(double value) {
  if (!std::isfinite(value)) return value;
  const std::string text = fmt::format("{:.4g}", value);
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

/// Number of values in a row of an array.
std::int64_t columns_of(const spec::Scene& scene, Array array) {
  const std::vector<Dimension> dimensions = dimensions_of(scene, array);
  return dimensions.empty() ? 1 : dimensions.back().length;
}

/// Puts the values around a wrong value of an output into the judgement, for a picture of the
/// output.
void show_values(const OperatorStage& stage,
                 Array array,
                 std::size_t wrong_index,
                 const ExpectedValues& expected,
                 Judgement& judgement) {
  const spec::Scene& scene = ptycho(stage.c).scene;
  const auto size = std::ssize(stage.got[array].values);
  const auto most = static_cast<std::int64_t>(harness::window_values_max);
  const std::int64_t columns = std::clamp<std::int64_t>(columns_of(scene, array), 1, most);
  const std::int64_t copy = std::max<std::int64_t>(spec::values(scene, array), 1);
  const auto wrong = static_cast<std::int64_t>(wrong_index);
  // The whole copy of the array if it fits, else the rows from the one with the wrong value.
  const std::int64_t copy_start = wrong - wrong % copy;
  const std::int64_t row_start = wrong - (wrong - copy_start) % columns;
  const std::int64_t first = copy <= most ? copy_start : row_start;
  const std::int64_t end = std::min({copy_start + copy, first + most / columns * columns, size});
  harness::ValueWindow window{.output = std::string(spec::name(array)),
                              .first = first,
                              .columns = columns,
                              .expected = {},
                              .got = {},
                              .error = {}};
  constexpr double open = std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t i = first; i < end; ++i) {
    const auto at = spec::to_size(i);
    const std::complex<double> got = stage.got[array].values[at];
    const std::optional<ExpectedValue> value = expected(array, at);
    window.expected.push_back(value ? in_short(std::abs(value->value)) : open);
    window.got.push_back(in_short(std::abs(got)));
    window.error.push_back(value ? in_short(std::abs(got - value->value)) : open);
  }
  judgement.values = std::move(window);
}

/// Fails the judgement for a number of a property, and lists the outputs that are wrong. There may
/// be none in this stage.
void fail_number(const OperatorStage& stage, std::string why, Judgement& judgement) {
  const bool is_first = judgement.verdict == Verdict::passed;
  judgement.fail(Verdict::falsified, std::move(why));
  if (!is_first) return;
  Judgement places;
  compare_outputs(stage, "", places, [&](Array array, std::size_t i) {
    return ExpectedValue{stage.expected[array].values[i], stage.expected[array].errors[i]};
  });
  judgement.wrong_count = places.wrong_count;
  judgement.wrong = std::move(places.wrong);
  judgement.values = std::move(places.values);
}

}  // namespace

std::string place_of(const OperatorStage& stage, Array array, std::size_t index) {
  const auto per_copy = spec::to_size(spec::values(ptycho(stage.c).scene, array));
  const std::size_t in_copy = index % per_copy;
  if (!spec::is_per_position(ptycho(stage.c).scene, array)) {
    return fmt::format("value {} of {}", in_copy, spec::name(array));
  }
  return fmt::format("value {} of {} of position {}", in_copy, spec::name(array), index / per_copy);
}

std::complex<double> inner_product(const BoundedArray& a, const BoundedArray& b) {
  Value sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) sum += a.values[i] * std::conj(b.values[i]);
  return sum;
}

double inner_product_bound(const BoundedArray& uncertain, const BoundedArray& exact) {
  constexpr double double_unit = 0x1p-53;
  double bound = 0;
  double magnitude = 0;
  for (std::size_t i = 0; i < exact.values.size(); ++i) {
    bound += uncertain.errors[i] * std::abs(exact.values[i]);
    magnitude += std::abs(uncertain.values[i]) * std::abs(exact.values[i]);
  }
  return bound + (static_cast<double>(exact.values.size()) + 4) * double_unit * magnitude;
}

ExpectedValue inner_product_of(const OperatorStage& stage,
                               Array array,
                               const BoundedArray& exact,
                               std::size_t part,
                               std::size_t parts) {
  const auto part_of = [&](const auto& all) {
    const auto size = static_cast<std::ptrdiff_t>(all.size() / parts);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(part) * size;
    return std::decay_t<decltype(all)>(first, first + size);
  };
  const BoundedArray left{.values = part_of(stage.got[array].values),
                          .errors = part_of(stage.expected[array].errors)};
  const BoundedArray right{.values = part_of(exact.values), .errors = {}};
  return {.value = inner_product(left, right), .bound = inner_product_bound(left, right)};
}

void compare_with_limit(const OperatorStage& stage,
                        const Named& number,
                        const UpperLimit& most,
                        Judgement& judgement) {
  const double value = number.value.real();
  const double beyond = value - most.limit;
  const double error = beyond <= 0 ? 0 : beyond;
  if (judge_number(stage, number, most.scale, error, most.bound, judgement)) return;
  fail_number(stage,
              fmt::format("{} = {:.9g}: expected at most {:.9g}, plus {:.3g} for rounding errors",
                          number.name,
                          value,
                          most.limit,
                          most.bound),
              judgement);
}

void compare_numbers(const OperatorStage& stage,
                     const Named& left,
                     const Named& right,
                     double bound,
                     Judgement& judgement) {
  const double error = std::abs(left.value - right.value);
  const double scale = std::max(std::abs(left.value), std::abs(right.value));
  if (judge_number(stage, left, scale, error, bound, judgement)) return;
  fail_number(stage,
              fmt::format("{} = {:.9g}{:+.9g}i, {} = {:.9g}{:+.9g}i: they differ by {:.3g}, "
                          "bound {:.3g}",
                          left.name,
                          left.value.real(),
                          left.value.imag(),
                          right.name,
                          right.value.real(),
                          right.value.imag(),
                          error,
                          bound),
              judgement);
}

void compare_outputs(const OperatorStage& stage,
                     std::string_view what,
                     Judgement& judgement,
                     const ExpectedValues& expected,
                     const reference::OperatorArrays* wrong) {
  for (const Array array : ptycho(stage.contract).outputs) {
    const BoundedArray& got = stage.got[array];
    harness::PowerMeter meter;
    for (std::size_t i = 0; i < got.values.size(); ++i) {
      const std::optional<ExpectedValue> value = expected(array, i);
      if (!value) continue;
      meter.add(std::abs(value->value), value->bound);
      compare(stage, array, i, rank_of(stage, array, i), got.values[i], *value, what, judgement);
      const bool is_first = judgement.wrong_count > 0 && judgement.values.output.empty();
      if (is_first) show_values(stage, array, i, expected, judgement);
    }
    if (wrong != nullptr) {
      for (const auto& value : (*wrong)[array].values) meter.raise(std::abs(value));
    }
    judgement.see(meter, spec::name(array));
  }
}

}  // namespace rankcheck::cases
