#include "harness/report/report.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/files.hpp"
#include "harness/report/causes.hpp"
#include "harness/report/report_text.hpp"
#include "harness/search/runner.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::ordered_json;

ordered_json verdicts_of(const Tally& tally) {
  ordered_json out = ordered_json::object();
  for (std::size_t i = 0; i < verdict_names.size(); ++i) {
    out[std::string(verdict_names[i])] = tally.verdicts[i];
  }
  return out;
}

ordered_json to_json(const Tally& tally) {
  return {
      {"findings", tally.findings},
      {"verdicts", verdicts_of(tally)},
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
  const bool is_stale =
      report.is_strict && std::any_of(report.known.begin(),
                                      report.known.end(),
                                      [](const KnownStatus& each) { return each.is_stale(); });
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
  const std::string reason(name(SkipReason::time_over));
  std::vector<std::string> ids;
  for (const Finding& finding : report.findings) {
    const bool is_cut = finding.verdict == Verdict::skipped && finding.reason == reason;
    if (is_cut) ids.push_back(finding.unit.id());
  }
  if (ids.empty()) return text;
  constexpr std::size_t named_max = 3;
  return text + fmt::format(", {} ended before they covered all that is required ({})",
                            ids.size(),
                            first_of(ids, named_max));
}

namespace {

/// A section of Markdown about a finding that did not pass.
std::string section_of(const Finding& finding) {
  std::string text = fmt::format("\n## {}{} {}\n\n{}\n",
                                 name(finding.verdict),
                                 finding.is_known ? " as known" : "",
                                 finding.unit.id(),
                                 failure_sentence(finding));
  const std::string details = explain(finding, "rankcheck");
  return details.empty() ? text : text + "\n```\n" + details + "```\n";
}

}  // namespace

std::string to_markdown(const Report& report) {
  constexpr std::size_t refusals_listed_max = 20;
  const Summary all = summarise(report.findings);
  const Summary present = summarise(findings_of_present(report));
  std::string text = fmt::format("# rankcheck\n\n**{}**\n\n", verdict_sentence(report));
  text += fmt::format("Run: `{}`\n\n", report.run.dump());
  const std::vector<std::string> versions = version_lines(report);
  for (const std::string& each : versions) text += "- " + each + '\n';
  if (!versions.empty()) text += '\n';
  if (!present.rows.empty()) text += to_table(present).markdown() + '\n';
  for (const AbsentBackend& each : absent_backends(report)) text += to_text(each) + "\n\n";
  text += outcome_line(all.total) + '\n';
  const std::vector<std::string> refusals = refusal_sentences(all.total, refusals_listed_max);
  if (!refusals.empty()) text += '\n';
  for (const std::string& each : refusals) text += "- " + each + '\n';
  if (report.ending != name(Ending::completed)) {
    text += fmt::format("\nEnded early ({}): {}.\n", report.ending, what_was_cut(report));
  }
  if (!report.known.empty()) text += "\n## Known defects\n\n";
  for (const KnownStatus& each : report.known) text += "- " + to_text(each) + '\n';
  for (const FailureGroup& cause : causes_of(report)) {
    for (const Finding* each : cause.findings) text += section_of(*each);
  }
  // What failed only as known stays visible, behind what needs attention.
  for (const Finding& each : report.findings) {
    if (each.is_known) text += section_of(each);
  }
  return text;
}

void write_report(const std::filesystem::path& folder, const Report& report) {
  write_file(folder / report_name, dump(to_json(report)));
  write_file(folder / "junit.xml", to_junit(report));
  write_file(folder / "summary.md", to_markdown(report));
}

}  // namespace rankcheck::harness
