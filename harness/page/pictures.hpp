#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/check/finding.hpp"
#include "harness/page/html.hpp"

namespace rankcheck::harness::page {

/// Draws the ranks and elements of a failing case: which are right, wrong, without a contribution
/// or not written. Falls back to the listed wrong elements if the finding has no marks.
void draw_elements(Html& html, const Finding& finding);

/// Draws what was expected of an operator, what it gave, and the error, if the finding has the
/// values.
void draw_values(Html& html, const Finding& finding);

/// A bar of a chart.
struct Bar {
  std::string label;
  double length = 0;
  /// What stands behind the bar.
  std::string said;
};

/// Draws bars below one another. `title` says what the chart shows, for people who do not see it.
void draw_bars(Html& html, const std::string& title, const std::vector<Bar>& bars);

/// Draws values from left to right as a line above zero. A place without a value is a gap. `title`
/// says what the line shows.
void draw_line(Html& html,
               const std::string& title,
               const std::vector<std::optional<double>>& values);

}  // namespace rankcheck::harness::page
