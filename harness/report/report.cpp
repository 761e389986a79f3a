#include "harness/report/report.hpp"

#include <algorithm>
#include <span>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/files.hpp"
#include "harness/report/causes.hpp"
#include "harness/report/github.hpp"
#include "harness/report/report_text.hpp"
#include "harness/search/runner.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Tally& tally) {
  ordered_json verdicts;
  for (std::size_t i = 0; i < verdict_names.size(); ++i) {
    verdicts[std::string(verdict_names[i])] = tally.verdicts[i];
  }
  return {
      {"findings", tally.findings},
      {"verdicts", std::move(verdicts)},
      {"skip_reasons", tally.skips},
      {"cases", tally.cases},
      {"compared_bytes", tally.compared_bytes},
      {"ratio_max", tally.ratio_max},
      {"power", to_json(tally.power)},
      {"powerless_cases", tally.powerless_cases},
      {"covered_cells", tally.covered_cells},
      {"required_cells", tally.required_cells},
      {"refused_cells", tally.refused_cells},
      {"known_findings", tally.known_findings()},
      {"known_cells", tally.known_cells},
  };
}

std::string dump(const ordered_json& value) {
  return value.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace

int exit_status(const Report& report) {
  const int of_findings = exit_status(summarise(report.findings).total);
  const bool is_stale = report.is_strict && !stale_text(report.known).empty();
  const int beyond = is_stale ? 1 : report.status_beyond_findings;
  if (of_findings == 1 || beyond == 1) return 1;
  const bool is_cut = report.not_run > 0 || report.ending == name(Ending::time_over);
  return is_cut ? 2 : std::max(of_findings, beyond);
}

ordered_json to_json(const Report& report) {
  const Summary summary = summarise(report.findings);
  ordered_json rows = ordered_json::array();
  for (const SummaryRow& row : summary.rows) {
    ordered_json entry{{"operation", row.operation}, {"backend", row.backend}};
    entry.update(to_json(row.tally));
    rows.push_back(std::move(entry));
  }
  ordered_json findings = ordered_json::array();
  for (const Finding& finding : report.findings) findings.push_back(to_json(finding));
  ordered_json known = ordered_json::array();
  for (const KnownStatus& each : report.known) known.push_back(to_json(each));
  ordered_json out{
      {"report_version", report_version},
      {"run", report.run},
      {"ending", report.ending},
      {"not_run", report.not_run},
      {"exit_status", exit_status(report)},
      {"total", to_json(summary.total)},
      {"summary", std::move(rows)},
      {"findings", std::move(findings)},
  };
  ordered_json causes = causes_to_json(report.findings);
  if (!causes.empty()) out["causes"] = std::move(causes);
  if (!known.empty()) out["known"] = std::move(known);
  out["environment"] = report.environment;
  return out;
}

std::string title_of_expected(const WrongElement& wrong) {
  return wrong.compared_with.empty() ? "expected" : printable(wrong.compared_with) + " has";
}

namespace {

bool has_error(const WrongElement& wrong) {
  return wrong.error != 0 || wrong.bound != 0;
}

}  // namespace

Table to_table(const std::vector<WrongElement>& wrong) {
  const bool has_later_stage =
      std::any_of(wrong.begin(), wrong.end(), [](const auto& each) { return each.stage > 0; });
  const bool has_errors = std::any_of(wrong.begin(), wrong.end(), has_error);
  const std::string expected = wrong.empty() ? "expected" : title_of_expected(wrong.front());
  std::vector<Table::Column> columns{{"rank", Align::right},
                                     {"element", Align::right},
                                     {expected, Align::right},
                                     {"got", Align::right},
                                     {"decoded"}};
  if (has_errors)
    columns.insert(columns.end() - 1, {{"error", Align::right}, {"bound", Align::right}});
  if (has_later_stage) columns.insert(columns.begin(), {{"stage", Align::right}, {"group"}});
  Table table(std::move(columns));
  for (const WrongElement& each : wrong) {
    std::vector<std::string> row{std::to_string(each.rank),
                                 std::to_string(each.index),
                                 printable(each.expected),
                                 printable(each.got),
                                 printable(each.decoded)};
    if (has_errors) {
      row.insert(row.end() - 1,
                 {fmt::format("{:.3g}", each.error), fmt::format("{:.3g}", each.bound)});
    }
    if (has_later_stage) {
      const std::string group =
          each.stage == 0 ? "as in the case" : fmt::format("{}", fmt::join(each.group, ","));
      row.insert(row.begin(), {std::to_string(each.stage), group});
    }
    table.add(std::move(row));
  }
  return table;
}

namespace {

/// Lists wrong elements whose table would be too wide, because their values are long.
std::string wrong_list(const std::vector<WrongElement>& wrong) {
  std::string text;
  for (const WrongElement& each : wrong) {
    std::string place = fmt::format("rank {}, element {}", each.rank, each.index);
    if (each.stage > 0) {
      place = fmt::format("stage {}, group {}, {}", each.stage, fmt::join(each.group, ","), place);
    }
    const std::string expected = title_of_expected(each);
    text += fmt::format("{}:\n  {}  {}\n  {:{}}  {}\n",
                        place,
                        expected,
                        printable(each.expected),
                        "got",
                        expected.size(),
                        printable(each.got));
    if (has_error(each))
      text += fmt::format("  error {:.3g}, bound {:.3g}\n", each.error, each.bound);
    if (each.decoded.empty()) continue;
    text += "  " + wrapped(printable(each.decoded), text_columns_max - 6, 2) + '\n';
  }
  return text;
}

/// Returns the lines of a text without their newlines.
std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

/// Shows wrong elements in lines that fit into a terminal behind an indentation.
std::vector<std::string> wrong_lines(const std::vector<WrongElement>& wrong) {
  constexpr std::size_t indentation = 4;
  constexpr std::size_t decoded_min = 12;
  constexpr std::size_t room = text_columns_max - indentation;
  std::vector<std::string> lines = split_lines(to_table(wrong).text(room, decoded_min));
  const bool fits = std::all_of(
      lines.begin(), lines.end(), [](const std::string& line) { return line.size() <= room; });
  return fits ? lines : split_lines(wrong_list(wrong));
}

}  // namespace

std::string replay_line(const std::string& case_text, const std::string& program) {
  return fmt::format("{} replay {}", program, shell_quoted(case_text));
}

std::string short_replay_line(const Finding& finding) {
  // A part of a longer line would replay nothing.
  constexpr std::size_t bytes_max = 2000;
  if (!finding.minimal) return {};
  std::string line = replay_line(to_text(*finding.minimal));
  return line.size() <= bytes_max ? line : std::string();
}

std::string explain(const Finding& finding, const std::string& program) {
  constexpr std::size_t cells_named_max = 12;
  std::string text;
  if (!finding.wrong.empty()) {
    text += fmt::format("  {}, the first:\n",
                        counted(finding.wrong_count, "wrong element", "wrong elements"));
    for (const std::string& line : wrong_lines(finding.wrong)) text += "    " + line + '\n';
  }
  if (finding.is_known) {
    const std::string known = known_text(finding) + "; the simplest case that was run:";
    text += "  " + wrapped(known, text_columns_max - 2, 4) + '\n';
  } else if (finding.minimal && finding.replays == 0) {
    text += "  the smallest case so far, not replayed:\n";
  } else if (finding.minimal) {
    text += fmt::format("  the {} case, which failed in {} of {} replays, after {}:\n",
                        finding.replays_failed == 0 ? "first" : "smallest",
                        finding.replays_failed,
                        finding.replays,
                        counted(finding.shrinks, "shrink", "shrinks"));
  }
  if (finding.minimal) {
    text += "  " + replay_line(to_text(*finding.minimal), program) + '\n';
  }
  // A unit that failed ended early, so its open cells say nothing about it.
  const bool ended_by_failure = finding.minimal || is_failure(finding.verdict);
  if (!ended_by_failure && !finding.missing_cells.empty()) {
    const std::string cells =
        "  never covered: " + first_of(finding.missing_cells, cells_named_max);
    text += "  " + wrapped(cells, text_columns_max - 2, 4) + '\n';
  }
  return text;
}

std::string what_was_cut(const Report& report) {
  std::string text = counted(report.not_run, "unit was not run", "units were not run");
  std::vector<std::string> ids;
  for (const Finding& finding : report.findings) {
    const bool is_cut = finding.reason == name(SkipReason::time_over) ||
                        finding.reason == name(SkipReason::interrupted);
    if (finding.verdict == Verdict::skipped && is_cut) ids.push_back(finding.unit.id());
  }
  if (ids.empty()) return text;
  constexpr std::size_t named_max = 3;
  return text + fmt::format(", {} ended before they covered all that is required ({})",
                            ids.size(),
                            first_of(ids, named_max));
}

namespace {

using github::code_in_markdown;
using github::in_markdown;

/// Longer texts lose their middle.
constexpr std::size_t markdown_bytes_max = 4000;

/// The first failures, in a line or two each.
std::string first_failures(const std::vector<FailureGroup>& causes) {
  constexpr std::size_t listed_max = 8;
  std::string text;
  for (const FailureGroup& cause : std::span(causes).first(std::min(causes.size(), listed_max))) {
    const Finding& first = *cause.findings.front();
    const std::string replay = short_replay_line(first);
    const std::string others = others_of(cause);
    text += fmt::format("- **{}** {}: {}{}{}\n",
                        name(first.verdict),
                        code_in_markdown(first.unit.id()),
                        in_markdown(failure_sentence(first)),
                        others.empty() ? "" : "; " + others,
                        // Two blanks at the end of a line break it.
                        replay.empty() ? "" : "  \n  " + code_in_markdown(replay));
  }
  if (causes.size() > listed_max) {
    text += fmt::format("- and {} more that need attention\n", causes.size() - listed_max);
  }
  return text.empty() ? text : text + '\n';
}

/// A list of what code under test may have said, with a blank line behind it.
std::string list_of(std::span<const std::string> items) {
  std::string text;
  for (const std::string& each : items) text += "- " + in_markdown(each, markdown_bytes_max) + '\n';
  return text.empty() ? text : text + '\n';
}

bool needs_attention(const SummaryRow& row) {
  for (std::size_t i = 0; i < verdict_names.size(); ++i) {
    if (row.tally.red(static_cast<Verdict>(i)) > 0) return true;
  }
  return row.tally.count(Verdict::errored) > 0;
}

/// A section of Markdown about a finding that did not pass.
std::string section_of(const Finding& finding) {
  std::string text = fmt::format("## {}{} {}\n\n{}\n\n",
                                 name(finding.verdict),
                                 finding.is_known ? " as known" : "",
                                 in_markdown(finding.unit.id()),
                                 in_markdown(failure_sentence(finding), markdown_bytes_max));
  const std::vector<std::string> details = split_lines(explain(finding, "rankcheck"));
  // Code has four blanks before each line. The details have two.
  for (const std::string& each : details) text += "  " + each + '\n';
  return details.empty() ? text : text + '\n';
}

}  // namespace

std::string to_markdown(const Report& report, const SummaryNotes& notes) {
  constexpr std::size_t refusals_listed_max = 20;
  // More would push the table out of a step's summary, which is the beginning of this page.
  constexpr std::size_t remarks_first_max = 12;
  const Summary all = summarise(report.findings);
  Summary present = summarise(findings_of_present(report));
  std::stable_partition(present.rows.begin(), present.rows.end(), needs_attention);
  const std::vector<FailureGroup> causes = causes_of(report);
  std::vector<std::string> remarks = notes.remarks;
  for (const AbsentBackend& each : absent_backends(report)) remarks.push_back(to_text(each));
  for (std::string& each : version_lines(report)) remarks.push_back(std::move(each));
  for (const KnownStatus& each : report.known) remarks.push_back(to_text(each));
  if (const std::int64_t any = all.total.power.any_input; any > 0) {
    remarks.push_back(counted(any, "element", "elements") +
                      " of min and max may be NaN or any input: nan_rule is unspecified");
  }
  std::string text = fmt::format(
      "# {}\n\n**{}**\n\nRun: {}\n\n",
      in_markdown(notes.title),
      in_markdown(verdict_sentence(report)),
      code_in_markdown(report.run.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  const std::span listed(remarks);
  const std::size_t first = std::min(remarks.size(), remarks_first_max);
  text += first_failures(causes) + list_of(listed.first(first));
  if (!present.rows.empty()) text += to_table(present).markdown() + '\n';
  text += list_of(listed.subspan(first));
  text += outcome_line(all.total) + "\n\n";
  text += list_of(refusal_sentences(all.total, refusals_listed_max));
  if (report.ending != name(Ending::completed)) {
    text += fmt::format("Ended early ({}): {}.\n\n",
                        in_markdown(report.ending),
                        in_markdown(what_was_cut(report), markdown_bytes_max));
  }
  for (const FailureGroup& cause : causes) {
    for (const Finding* each : cause.findings) text += section_of(*each);
  }
  // What failed only as known stays visible, behind what needs attention.
  for (const Finding& each : report.findings) {
    if (each.is_known) text += section_of(each);
  }
  text.pop_back();
  return text;
}

void write_report(const std::filesystem::path& folder, const Report& report) {
  write_file(folder / report_name, dump(to_json(report)));
  write_file(folder / "junit.xml", to_junit(report));
  write_file(folder / "summary.md", to_markdown(report));
}

}  // namespace rankcheck::harness
