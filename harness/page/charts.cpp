#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/page/pictures.hpp"
#include "harness/page/sections.hpp"

namespace rankcheck::harness::page {

namespace {

constexpr std::size_t slowest_max = 20;

/// How many units have their worst error/bound in which range.
void write_errors(Html& html, const Report& report) {
  constexpr std::array limits{1e-4, 1e-3, 1e-2, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
  std::array<std::int64_t, limits.size() + 1> counts{};
  std::int64_t judged = 0;
  for (const Finding& each : report.findings) {
    Tally tally;
    tally.add(each);
    const std::string error = error_of(tally);
    if (error == "-") continue;
    ++judged;
    const auto found = std::lower_bound(limits.begin(), limits.end() - 1, each.ratio_max);
    ++counts[error == "exact" ? 0 : 1 + static_cast<std::size_t>(found - limits.begin())];
  }
  html.leaf("h3", "Errors");
  if (judged == 0) {
    html.leaf("p", "Nothing was compared.");
    return;
  }
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::string label = i == 0 ? "exact" : fmt::format("up to {:g}", limits[i - 1]);
    bars.push_back(
        {.label = label, .length = static_cast<double>(counts[i]), .said = grouped(counts[i])});
  }
  draw_bars(html, "Number of units by the worst error/bound of their right elements", bars);
}

void write_times(Html& html, const Report& report) {
  const auto found = report.environment.find("durations_s");
  if (found == report.environment.end() || !found->is_object() || found->empty()) return;
  std::vector<Bar> bars;
  double total = 0;
  for (const auto& [id, value] : found->items()) {
    if (!value.is_number()) continue;
    const double seconds = value.get<double>();
    total += seconds;
    bars.push_back({.label = id, .length = seconds, .said = fmt::format("{:.3g} s", seconds)});
  }
  const std::size_t units = bars.size();
  const std::size_t listed = std::min(units, slowest_max);
  std::stable_sort(
      bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.length > b.length; });
  bars.resize(listed);
  html.leaf("h3", "Times");
  html.leaf("p",
            fmt::format("{} took {:.1f} s together.",
                        counted(static_cast<std::int64_t>(units), "unit", "units"),
                        total));
  draw_bars(html, fmt::format("The {} units that took longest", listed), bars);
}

}  // namespace

void write_charts(Html& html, const Report& report) {
  const Html::Element section = html.open("section", {{"aria-labelledby", "charts"}});
  html.leaf("h2", "Errors and times", {{"id", "charts"}});
  write_errors(html, report);
  write_times(html, report);
}

}  // namespace rankcheck::harness::page
