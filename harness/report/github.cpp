#include "harness/report/github.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/report/report_text.hpp"

namespace rankcheck::harness::github {

namespace {

/// A longer line that replays a case is left out, because a part of it replays nothing.
constexpr std::size_t replay_bytes_max = 2000;
constexpr std::size_t causes_in_summary_max = 8;
constexpr std::size_t remarks_max = 12;
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

/// The line that replays the finding's case. Empty if there is no case or a long one.
std::string short_replay_line(const Finding& finding) {
  if (!finding.minimal) return {};
  std::string line = harness::replay_line(to_text(*finding.minimal));
  return line.size() <= replay_bytes_max ? line : std::string();
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

void add_list(const std::vector<std::string>& remarks, std::vector<std::string>& lines) {
  if (remarks.empty()) return;
  const std::size_t shown = std::min(remarks.size(), remarks_max);
  for (std::size_t i = 0; i < shown; ++i) lines.push_back("- " + in_markdown(remarks[i]));
  if (shown < remarks.size()) lines.push_back(fmt::format("- and {} more", remarks.size() - shown));
  lines.emplace_back();
}

void add_failures(const Report& report, std::vector<std::string>& lines) {
  const std::vector<FailureGroup> causes = causes_of(report);
  if (causes.empty()) return;
  const std::size_t shown = std::min(causes.size(), causes_in_summary_max);
  for (std::size_t i = 0; i < shown; ++i) {
    const Finding& each = *causes[i].findings.front();
    const std::string replay = short_replay_line(each);
    const std::string others = others_of(causes[i]);
    lines.push_back(fmt::format("- **{}** {}: {}{}{}",
                                name(each.verdict),
                                code_in_markdown(each.unit.id()),
                                in_markdown(failure_sentence(each)),
                                others.empty() ? "" : "; " + others,
                                // Two blanks at the end of a line break it.
                                replay.empty() ? "" : "  "));
    if (!replay.empty()) lines.push_back("  " + code_in_markdown(replay));
  }
  if (shown < causes.size()) {
    lines.push_back(fmt::format("- and {} more that need attention", causes.size() - shown));
  }
  lines.emplace_back();
}

std::int64_t reds_of(const SummaryRow& row) {
  std::int64_t count = row.tally.count(Verdict::errored);
  for (std::size_t i = 0; i < verdict_names.size(); ++i) {
    count += row.tally.red(static_cast<Verdict>(i));
  }
  return count;
}

/// Adds the table in at most `room` lines. Rows that need attention come first.
void add_rows(const Report& report, std::size_t room, std::vector<std::string>& lines) {
  constexpr std::size_t around_rows = 4;
  Summary summary = summarise(findings_of_present(report));
  if (summary.rows.empty() || room <= around_rows) return;
  std::stable_sort(
      summary.rows.begin(), summary.rows.end(), [](const SummaryRow& a, const SummaryRow& b) {
        return reds_of(a) > 0 && reds_of(b) == 0;
      });
  const std::size_t count = summary.rows.size();
  const std::size_t shown = std::min(count, room - around_rows);
  summary.rows.resize(shown);
  std::istringstream table(to_narrow_table(summary).markdown());
  for (std::string line; std::getline(table, line);) lines.push_back(line);
  lines.emplace_back();
  if (shown < count) lines.push_back(fmt::format("and {} more rows", count - shown));
}

std::vector<std::string> remarks_of(const Report& report, const SummaryNotes& notes) {
  std::vector<std::string> remarks = notes.remarks;
  for (const AbsentBackend& each : absent_backends(report)) remarks.push_back(to_text(each));
  for (const std::string& each : version_lines(report)) remarks.push_back(each);
  for (const KnownStatus& each : report.known) remarks.push_back(to_text(each));
  return remarks;
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

std::string to_step_summary(const Report& report, const SummaryNotes& notes) {
  constexpr std::size_t run_bytes_max = 1000;
  std::vector<std::string> lines{
      "## " + in_markdown(notes.title),
      "",
      "**" + in_markdown(verdict_sentence(report)) + "**",
      "",
      "Run: " + code_in_markdown(shortened(
                    report.run.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                    run_bytes_max)),
      ""};
  add_list(remarks_of(report, notes), lines);
  add_failures(report, lines);
  const std::string end =
      "The report's folder has all of it: `summary.md`, `report.html` and `report.json`.";
  add_rows(report, summary_lines_max - lines.size() - 1, lines);
  lines.push_back(end);
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
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
