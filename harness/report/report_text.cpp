#include "harness/report/report_text.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "harness/base/table.hpp"

namespace rankcheck::harness {

namespace {

/// More causes of failures than this are only counted. summary.md has all failures.
constexpr std::size_t causes_listed_max = 10;

bool is_absent(const Finding& finding) {
  if (finding.verdict == Verdict::skipped) {
    return finding.reason == name(SkipReason::backend_unavailable);
  }
  return finding.verdict == Verdict::errored && finding.reason.starts_with(backend_not_opened);
}

/// Returns why a backend is unavailable. Falls back to the finding's own reason.
std::string why_absent(const Report& report, const Finding& finding) {
  if (finding.verdict == Verdict::errored) return finding.reason;
  const auto all = report.environment.find("unavailable_backends");
  if (all == report.environment.end() || !all->is_object()) return finding.reason;
  const auto why = all->find(finding.unit.backend);
  return why != all->end() && why->is_string() ? why->get<std::string>() : finding.reason;
}

/// Counts with their names, such as "2 falsified, 1 hung".
struct Counts {
  std::int64_t sum = 0;
  std::string text;

  void add(std::int64_t count, std::string_view what) {
    if (count == 0) return;
    sum += count;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(count), what);
  }
};

/// Counts the units whose verdict is red, or those whose verdict is neither red nor passed.
Counts counts_of_verdicts(const Tally& total, bool wants_red) {
  Counts counts;
  for (std::size_t i = 0; i < verdict_names.size(); ++i) {
    const auto verdict = static_cast<Verdict>(i);
    if (verdict == Verdict::passed || is_red(verdict) != wants_red) continue;
    counts.add(total.verdicts[i] - total.known[i], verdict_names[i]);
  }
  return counts;
}

/// "2 failed (1 falsified, 1 hung), 88 skipped, 1,236 passed": what needs attention comes first.
std::string counts_of(const Tally& total, std::int64_t not_run) {
  const Counts red = counts_of_verdicts(total, true);
  const Counts others = counts_of_verdicts(total, false);
  Counts all;
  all.add(red.sum, fmt::format("failed ({})", red.text));
  if (others.sum > 0) all.text += (all.text.empty() ? "" : ", ") + others.text;
  all.add(not_run, "not run");
  all.add(total.known_findings(), "failed only as known");
  all.add(total.count(Verdict::passed), "passed");
  return all.text.empty() ? "nothing was run" : all.text;
}

Verdict verdict_of_status(int status) {
  if (status == 0) return Verdict::passed;
  return status == 1 ? Verdict::falsified : Verdict::skipped;
}

std::string paragraph_of(const FailureGroup& group, const TextOptions& options) {
  const Finding& finding = *group.findings.front();
  std::string text = options.style.paint(finding.verdict, name(finding.verdict)) + ' ' +
                     finding.unit.id() + "\n  " +
                     wrapped(failure_sentence(finding), options.width_max - 2, 2) + '\n';
  text += explain(finding, options.program);
  const std::string others = others_of(group);
  if (others.empty()) return text;
  std::vector<std::string> ids;
  for (const Finding* each : group.findings) ids.push_back(each->unit.id());
  ids.erase(ids.begin());
  constexpr std::size_t named_max = 3;
  const std::string more = others + ": " + first_of(ids, named_max);
  return text + "  " + wrapped(printable(more), options.width_max - 2, 4) + '\n';
}

/// Whether the finding needs attention and its backend was run.
bool is_failure_of_present(const Finding& finding) {
  return is_bad(finding) && !is_absent(finding);
}

}  // namespace

std::vector<AbsentBackend> absent_backends(const Report& report) {
  std::map<std::pair<std::string, Verdict>, AbsentBackend> all;
  for (const Finding& finding : report.findings) {
    if (!is_absent(finding)) continue;
    AbsentBackend& backend = all[{finding.unit.tested(), finding.verdict}];
    if (backend.units++ > 0) continue;
    backend.name = finding.unit.tested();
    backend.verdict = finding.verdict;
    backend.reason = printable(why_absent(report, finding));
  }
  std::vector<AbsentBackend> sorted;
  for (auto& [key, backend] : all) sorted.push_back(std::move(backend));
  return sorted;
}

std::string to_text(const AbsentBackend& backend) {
  return fmt::format("{} did not run ({} {}): {}",
                     printable(backend.name),
                     counted(backend.units, "unit", "units"),
                     name(backend.verdict),
                     backend.reason);
}

std::vector<std::string> version_lines(const Report& report) {
  constexpr std::size_t bytes_max = 120;
  std::vector<std::string> lines;
  const auto found = report.environment.find("backends");
  if (found == report.environment.end() || !found->is_object()) return lines;
  for (const auto& [backend, told] : found->items()) {
    if (!told.is_object() || !told.contains("versions") || !told["versions"].is_object()) continue;
    std::string all;
    for (const auto& [key, version] : told["versions"].items()) {
      if (!version.is_string()) continue;
      all += fmt::format("{}{} {}", all.empty() ? "" : ", ", key, version.get<std::string>());
    }
    if (all.empty()) continue;
    lines.push_back(fmt::format("{}: {}", printable(backend), shortened(all, bytes_max)));
  }
  return lines;
}

std::vector<Finding> findings_of_present(const Report& report) {
  std::vector<Finding> some;
  for (const Finding& finding : report.findings) {
    if (!is_absent(finding)) some.push_back(finding);
  }
  return some;
}

std::vector<FailureGroup> causes_of(const Report& report) {
  return group_findings(report.findings, is_failure_of_present);
}

std::string verdict_sentence(const Report& report) {
  const Tally total = summarise(report.findings).total;
  const int status = exit_status(report);
  std::string verdict = "Not everything was checked";
  if (status == 1) verdict = "Failed";
  if (status == 0 && total.known_findings() > 0) {
    verdict = "Everything passed that is not known to fail";
  } else if (status == 0) {
    verdict = total.count(Verdict::skipped) > 0 ? "Everything that was checked passed"
                                                : "Everything passed";
  }
  const std::string stale = report.is_strict ? stale_text(report.known) : "";
  // If nothing else failed, this is the verdict.
  const bool is_why = !stale.empty() && status == 1 && counts_of_verdicts(total, true).sum == 0;
  if (is_why) verdict += ", because " + stale;
  const std::string end = stale.empty() || is_why ? "" : ' ' + stale + '.';
  return fmt::format("{}: {}, of {}.{}",
                     verdict,
                     counts_of(total, report.not_run),
                     counted(total.findings + report.not_run, "unit", "units"),
                     end);
}

std::string failure_sentence(const Finding& finding) {
  const Unit& unit = finding.unit;
  std::string text = fmt::format("{} of {} by {} on {} {}",
                                 unit.property,
                                 unit.operation,
                                 unit.algorithm,
                                 unit.tested(),
                                 what_happened(finding.verdict));
  if (!finding.reason.empty()) text += ": " + finding.reason;
  return printable(text);
}

std::string verdict_and_failures(const Report& report, const TextOptions& options) {
  std::string text;
  if (!options.is_part_of_gate) {
    const Verdict verdict = verdict_of_status(exit_status(report));
    text = options.style.paint(verdict, wrapped(verdict_sentence(report), options.width_max, 2));
    text += '\n';
  }
  std::vector<FailureGroup> causes = causes_of(report);
  if (options.is_part_of_gate) {
    std::erase_if(causes, [](const auto& each) { return lacks_coverage(*each.findings.front()); });
  }
  if (!report.known.empty()) text += '\n';
  for (const KnownStatus& each : report.known) {
    text += wrapped(to_text(each), text_columns_max, 2) + '\n';
  }
  const std::size_t listed = std::min(causes.size(), causes_listed_max);
  for (std::size_t i = 0; i < listed; ++i) text += '\n' + paragraph_of(causes[i], options);
  if (listed < causes.size()) {
    text += fmt::format("\nand {} that need attention, see summary.md\n",
                        counted(std::ssize(causes) - static_cast<std::int64_t>(listed),
                                "more cause of failures",
                                "more causes of failures"));
  }
  return text;
}

std::string table_text(const Report& report, const TextOptions& options) {
  constexpr std::size_t refusals_listed_max = 3;
  const Summary summary = summarise(findings_of_present(report));
  std::string text;
  if (!summary.rows.empty()) text += to_narrow_table(summary).text(options.width_max, 13);
  for (const AbsentBackend& each : absent_backends(report)) {
    text += wrapped(to_text(each), options.width_max, 2) + '\n';
  }
  if (summary.total.refused_cells > 0) {
    text += fmt::format("{} not offered by their backends, see summary.md\n",
                        counted(summary.total.refused_cells, "cell is", "cells are"));
  }
  // Where some units were checked, the reasons for the others would hide what matters.
  if (summary.total.findings == summary.total.count(Verdict::skipped)) {
    for (const std::string& each : refusal_sentences(summary.total, refusals_listed_max)) {
      text += wrapped(each, options.width_max, 2) + '\n';
    }
  }
  return text;
}

}  // namespace rankcheck::harness
