#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/report.hpp"

/// What GitHub Actions shows of a run: a summary of the step and annotations.
namespace rankcheck::harness::github {

/// The most lines of a step's summary. GitHub shows the summaries of all steps on one page.
inline constexpr std::size_t summary_lines_max = 60;
/// GitHub shows this many annotations of a kind for each step.
inline constexpr std::size_t annotations_max = 10;

/// A message that GitHub shows beside the step, and its title.
struct Annotation {
  std::string title;
  std::string message;
};

/// One "::error" line for each of the first annotations. If there are more than GitHub shows, the
/// last line says how many are left out. Both texts are escaped as actions/toolkit does
/// (packages/core/src/command.ts), so they may have several lines.
[[nodiscard]] std::string to_commands(const std::vector<Annotation>& annotations);

/// A failure, a backend that did not open, or else the verdict if the exit status is not 0.
[[nodiscard]] std::vector<Annotation> annotations_of(const Report& report);

/// The summary of a step: the beginning of a page of Markdown, in at most `summary_lines_max`
/// lines. If lines are left out, the last one says how many.
[[nodiscard]] std::string to_step_summary(const std::string& page);

/// Text that Markdown shows as it is, in one line of at most `bytes_max` bytes before it is
/// escaped.
[[nodiscard]] std::string in_markdown(std::string_view text, std::size_t bytes_max = 400);
/// The same, as code.
[[nodiscard]] std::string code_in_markdown(std::string_view text);

}  // namespace rankcheck::harness::github
