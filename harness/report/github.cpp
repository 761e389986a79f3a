#include "harness/report/github.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/report/report_text.hpp"

namespace rankcheck::harness::github {

namespace {

/// GitHub shows titles of at most 255 characters.
constexpr std::size_t title_bytes_max = 200;

/// The characters that end a workflow command's message or, with `is_property`, one of its
/// properties.
std::string escaped(std::string_view text, bool is_property) {
  std::string out;
  for (const char c : text) {
    const bool is_special =
        c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','));
    out += is_special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

std::string to_command(const Annotation& each) {
  return fmt::format("::error title={}::{}\n",
                     escaped(shortened(each.title, title_bytes_max), true),
                     escaped(each.message, false));
}

std::string first_wrong(const Finding& finding) {
  if (finding.wrong.empty()) return {};
  const WrongElement& wrong = finding.wrong.front();
  return fmt::format("{}, the first: rank {}, element {}, {} {}, got {}{}",
                     counted(finding.wrong_count, "wrong element", "wrong elements"),
                     wrong.rank,
                     wrong.index,
                     title_of_expected(wrong),
                     printable(wrong.expected),
                     printable(wrong.got),
                     wrong.decoded.empty() ? "" : " (" + printable(wrong.decoded) + ')');
}

Annotation annotation_of(const FailureGroup& cause) {
  const Finding& finding = *cause.findings.front();
  Annotation annotation{
      .title = fmt::format("rankcheck: {}: {}", name(finding.verdict), finding.unit.id()),
      .message = failure_sentence(finding)};
  for (const std::string& line :
       {first_wrong(finding), short_replay_line(finding), others_of(cause)}) {
    if (!line.empty()) annotation.message += '\n' + line;
  }
  return annotation;
}

}  // namespace

std::string in_markdown(std::string_view text, std::size_t bytes_max) {
  std::string out;
  for (const char c : shortened(text, bytes_max)) {
    if (std::string_view("\\`*[]<>|~&#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string code_in_markdown(std::string_view text) {
  const std::string shown = printable(text);
  // Code ends at the first run of as many backticks as it began with.
  std::size_t longest = 0;
  for (std::size_t at = 0, run = 0; at < shown.size(); ++at) {
    run = shown[at] == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const char* const space = longest > 0 ? " " : "";
  return fence + space + shown + space + fence;
}

std::string to_commands(const std::vector<Annotation>& annotations) {
  const bool is_cut = annotations.size() > annotations_max;
  const std::size_t shown = is_cut ? annotations_max - 1 : annotations.size();
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += to_command(annotations[i]);
  if (is_cut) {
    text += to_command({.title = "rankcheck: more failures",
                        .message = fmt::format("{} more need attention, see the report",
                                               annotations.size() - shown)});
  }
  return text;
}

std::vector<Annotation> annotations_of(const Report& report) {
  std::vector<Annotation> all;
  for (const FailureGroup& each : causes_of(report)) all.push_back(annotation_of(each));
  for (const AbsentBackend& each : absent_backends(report)) {
    if (each.verdict != Verdict::errored) continue;
    all.push_back({.title = "rankcheck: backend " + each.name, .message = to_text(each)});
  }
  if (all.empty() && exit_status(report) != 0) {
    all.push_back({.title = "rankcheck", .message = verdict_sentence(report)});
  }
  return all;
}

std::string to_step_summary(const std::string& page) {
  const auto count = static_cast<std::size_t>(std::count(page.begin(), page.end(), '\n'));
  if (count <= summary_lines_max) return page;
  // A blank line ends a table or a list before the last line.
  const std::size_t shown = summary_lines_max - 2;
  std::size_t end = 0;
  for (std::size_t i = 0; i < shown; ++i) end = page.find('\n', end) + 1;
  return page.substr(0, end) + fmt::format("\nand {} more lines\n", count - shown);
}

}  // namespace rankcheck::harness::github
