#include "cases/ptycho/value_window.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/shapes.hpp"

namespace rankcheck::cases {

namespace {

using spec::Array;

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

}  // namespace

void show_values(const OperatorStage& stage,
                 Array array,
                 std::size_t wrong_index,
                 const ExpectedValues& expected,
                 harness::Judgement& judgement) {
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

}  // namespace rankcheck::cases
