#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/table.hpp"
#include "harness/case/fields.hpp"
#include "harness/compare/trend.hpp"
#include "harness/report/report_text.hpp"

namespace rankcheck::harness::compare {

namespace {

using nlohmann::ordered_json;

/// A number of each point. They are drawn from 0 to the largest one.
struct Quantity {
  std::string_view title;
  const char* field;
  std::optional<double> TrendPoint::*value;
};

constexpr std::array quantities{
    Quantity{"error/bound", "ratio_max", &TrendPoint::ratio_max},
    Quantity{"cases/s", "cases_per_second", &TrendPoint::cases_per_second},
    Quantity{"bench ratio", "floor_ratio", &TrendPoint::floor_ratio},
};

/// One letter for each verdict, in the order of the enumerators. Failures are large.
constexpr std::string_view letters = "pFKHCvse";
static_assert(letters.size() == verdict_names.size());
constexpr std::string_view legend =
    "p passed, F falsified, K flaky, H hung, C crashed, x failed only as known, v vacuous, "
    "s skipped, e errored, - not in the run";

constexpr std::array<std::string_view, 8> bars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/// "0.25", "41,700".
std::string short_number(double value) {
  constexpr double grouped_from = 1000;
  const bool is_large = value >= grouped_from && value < 1e9;
  return is_large ? grouped(std::llround(value)) : fmt::format("{:.3g}", value);
}

std::string letters_of(const TrendRow& row, std::size_t first) {
  std::string text;
  for (std::size_t i = first; i < row.points.size(); ++i) {
    const TrendPoint& point = row.points[i];
    if (point.fails_only_as_known()) {
      text += 'x';
    } else {
      text += point.verdict ? letters[spec::to_size(*point.verdict)] : '-';
    }
  }
  return text;
}

/// A bar for each number, and the last one as text. A bar has eighths of the largest finite number.
std::string line_of(const TrendRow& row, const Quantity& quantity, std::size_t first) {
  double largest = 0;
  for (const TrendPoint& each : row.points) {
    const double value = (each.*quantity.value).value_or(0);
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  std::string text;
  for (std::size_t i = first; i < row.points.size(); ++i) {
    const auto& value = row.points[i].*quantity.value;
    if (!value) {
      text += '-';
    } else if (!std::isfinite(*value)) {
      text += bars.back();
    } else {
      const double share = largest > 0 ? *value / largest : 0;
      const auto eighths = static_cast<std::size_t>(std::ceil(share * bars.size()));
      text += bars[std::clamp<std::size_t>(eighths, 1, bars.size()) - 1];
    }
  }
  const auto& last = row.points.back().*quantity.value;
  return last ? text + ' ' + short_number(*last) : text;
}

bool says_something(const TrendRow& row) {
  return std::any_of(row.points.begin(), row.points.end(), [](const TrendPoint& each) {
    return each.ratio_max || each.failed > 0 || each.floor_ratio;
  });
}

/// The quantities that some point has.
std::vector<Quantity> present_in(const Trend& trend) {
  std::vector<Quantity> present;
  std::copy_if(
      quantities.begin(), quantities.end(), std::back_inserter(present), [&](const Quantity& each) {
        return std::any_of(trend.rows.begin(), trend.rows.end(), [&](const TrendRow& row) {
          return std::any_of(row.points.begin(), row.points.end(), [&](const TrendPoint& point) {
            return (point.*each.value).has_value();
          });
        });
      });
  return present;
}

/// A table of the rows that some run judged or measured, with the runs from `first` on.
Table table_of(const Trend& trend, const std::vector<Quantity>& present, std::size_t first) {
  std::vector<Table::Column> columns{{"operation"}, {"backend"}, {"verdicts"}};
  for (const Quantity& each : present) columns.push_back({std::string(each.title)});
  Table table(std::move(columns));
  for (const TrendRow& row : trend.rows) {
    if (!says_something(row)) continue;
    std::vector<std::string> cells{
        printable(row.operation), printable(row.tested), letters_of(row, first)};
    for (const Quantity& each : present) cells.push_back(line_of(row, each, first));
    table.add(std::move(cells));
  }
  return table;
}

/// The number of runs for which a table has room in a line.
std::size_t runs_that_fit(const Trend& trend, const std::vector<Quantity>& present) {
  constexpr std::size_t gap = 2;
  constexpr std::size_t number_width = 10;
  std::size_t names = std::string_view("operation").size() + gap;
  std::size_t backends = std::string_view("backend").size() + gap;
  for (const TrendRow& row : trend.rows) {
    names = std::max(names, row.operation.size() + gap);
    backends = std::max(backends, row.tested.size() + gap);
  }
  const std::size_t fixed = names + backends + gap + present.size() * (number_width + gap);
  const std::size_t room = text_columns_max > fixed ? text_columns_max - fixed : 0;
  return std::max<std::size_t>(3, room / (1 + present.size()));
}

}  // namespace

std::string to_text(const Trend& trend) {
  const std::vector<Quantity> present = present_in(trend);
  const std::size_t runs = trend.runs.size();
  const std::size_t shown = std::min(runs, runs_that_fit(trend, present));
  std::string text = "over the runs";
  if (shown < runs) {
    text += fmt::format(", of which the latest {} are shown; --format json has all", shown);
  }
  text += '\n' + table_of(trend, present, runs - shown).text();
  return text + wrapped(legend, text_columns_max, 0) +
         "\na bar for each run, from 0 to the largest value, then the value of the last run\n";
}

std::string to_markdown(const Trend& trend) {
  return fmt::format(
      "## over the runs\n\n{}\n{}.\nA bar for each run, from 0 to the largest value, then the "
      "value of the last run.\n",
      table_of(trend, present_in(trend), 0).markdown(),
      legend);
}

ordered_json to_json(const Trend& trend) {
  ordered_json rows = ordered_json::array();
  for (const TrendRow& row : trend.rows) {
    ordered_json out{{"operation", row.operation},
                     {"backend", row.tested},
                     {"verdicts", ordered_json::array()},
                     {"units", ordered_json::array()},
                     {"failed", ordered_json::array()},
                     {"known", ordered_json::array()}};
    for (const Quantity& each : quantities) out[each.field] = ordered_json::array();
    for (const TrendPoint& point : row.points) {
      out["verdicts"].push_back(point.verdict ? ordered_json(name(*point.verdict))
                                              : ordered_json());
      out["units"].push_back(point.units);
      out["failed"].push_back(point.failed);
      out["known"].push_back(point.known);
      for (const Quantity& each : quantities) {
        const auto& value = point.*each.value;
        out[each.field].push_back(value ? write_value(*value) : ordered_json());
      }
    }
    rows.push_back(std::move(out));
  }
  return rows;
}

}  // namespace rankcheck::harness::compare
