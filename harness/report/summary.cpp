#include "harness/report/summary.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/spec/to_size.hpp"

namespace rankcheck::harness {

namespace {

/// "3 passed, 1 falsified (1 known)": the verdicts that occurred, with their counts. `of_skipped`
/// stands behind the count of skipped findings.
std::string to_text(const Tally& tally, std::string_view of_skipped = {}) {
  std::vector<std::string> counts;
  for (std::size_t i = 0; i < tally.verdicts.size(); ++i) {
    if (tally.verdicts[i] == 0) continue;
    counts.push_back(fmt::format("{} {}", tally.verdicts[i], verdict_names[i]));
    if (tally.known[i] > 0) counts.back() += fmt::format(" ({} known)", tally.known[i]);
    if (static_cast<Verdict>(i) == Verdict::skipped) counts.back() += of_skipped;
  }
  return fmt::format("{}", fmt::join(counts, ", "));
}

/// "44/638, 594 not offered": covered cells, all cells, and cells that the backend refuses.
std::string cells_of(const Tally& tally) {
  std::string text = fmt::format("{}/{}", tally.covered_cells, tally.required_cells);
  if (tally.known_cells > 0) text += fmt::format(", {} known", tally.known_cells);
  if (tally.refused_cells > 0) text += fmt::format(", {} not offered", tally.refused_cells);
  return text;
}

/// "99.6 %", rounded down. It is "100 %" only if all bounds were useful.
std::string power_of(const Power& power) {
  if (power.elements == 0) return "-";
  if (power.useful == power.elements) return "100 %";
  const double share = static_cast<double>(power.useful) / static_cast<double>(power.elements);
  return fmt::format("{:.1f} %", std::floor(1000 * share) / 10);
}

}  // namespace

std::string error_of(const Tally& tally) {
  if (tally.compared_bytes == 0) return "-";
  // "exact" beside a failure would be read as its result.
  for (const Verdict each : {Verdict::falsified, Verdict::flaky, Verdict::hung, Verdict::crashed}) {
    if (tally.ratio_max == 0 && tally.count(each) > 0) return "-";
  }
  return tally.ratio_max == 0 ? "exact" : fmt::format("{:.3g}", tally.ratio_max);
}

void Tally::add(const Finding& finding) {
  ++findings;
  ++verdicts[spec::to_size(finding.verdict)];
  known[spec::to_size(finding.verdict)] += finding.is_known ? 1 : 0;
  cases += finding.cases;
  compared_bytes += finding.compared_bytes;
  ratio_max = std::max(ratio_max, finding.ratio_max);
  power.add(finding.power);
  powerless_cases += finding.powerless_cases;
  covered_cells += std::ssize(finding.cells);
  std::set<std::string> open(finding.missing_cells.begin(), finding.missing_cells.end());
  open.insert(finding.refused_cells.begin(), finding.refused_cells.end());
  open.insert(finding.known_cells.begin(), finding.known_cells.end());
  required_cells += std::ssize(finding.cells) + std::ssize(open);
  refused_cells += std::ssize(finding.refused_cells);
  known_cells += std::ssize(finding.known_cells);
  if (finding.verdict != Verdict::skipped) return;
  ++skips[finding.reason];
  if (!finding.refusal.empty()) ++refusals[finding.refusal];
}

Summary summarise(std::span<const Finding> findings) {
  std::map<std::pair<std::string, std::string>, Tally> rows;
  Summary summary;
  for (const Finding& finding : findings) {
    rows[{finding.unit.operation, finding.unit.tested()}].add(finding);
    summary.total.add(finding);
  }
  for (auto& [key, tally] : rows) summary.rows.push_back({key.first, key.second, tally});
  return summary;
}

std::vector<std::string> refusal_sentences(const Tally& tally, std::size_t most) {
  std::vector<std::pair<std::string, std::int64_t>> sorted(tally.refusals.begin(),
                                                           tally.refusals.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < std::min(most, sorted.size()); ++i) {
    sentences.push_back(
        fmt::format("{}: {}",
                    counted(sorted[i].second, "unit was skipped", "units were skipped"),
                    shortened(printable(sorted[i].first), 300)));
  }
  if (sorted.size() > most) {
    sentences.push_back(
        fmt::format("and {} more reasons, which report.json names", sorted.size() - most));
  }
  return sentences;
}

int exit_status(const Tally& total) {
  for (std::size_t i = 0; i < total.verdicts.size(); ++i) {
    if (total.red(static_cast<Verdict>(i)) > 0) return 1;
  }
  const bool checked = total.findings > total.count(Verdict::skipped);
  const bool is_cut = total.skips.contains(std::string(name(SkipReason::time_over))) ||
                      total.skips.contains(std::string(name(SkipReason::interrupted)));
  return checked && !is_cut && total.count(Verdict::errored) == 0 ? 0 : 2;
}

Table to_table(const Summary& summary) {
  Table table({{"operation"},
               {"backend"},
               {"cases", Align::right},
               {"compared", Align::right},
               {"error/bound", Align::right},
               {"power", Align::right},
               {"cells", Align::right},
               {"verdicts"}});
  for (const SummaryRow& row : summary.rows) {
    const Tally& tally = row.tally;
    table.add({row.operation,
               row.backend,
               grouped(tally.cases),
               grouped(tally.compared_bytes) + " B",
               error_of(tally),
               power_of(tally.power),
               cells_of(tally),
               to_text(tally)});
  }
  return table;
}

Table to_narrow_table(const Summary& summary) {
  // The longest name of an operation of rankcheck has 31 characters. With it, 100 columns have room
  // for this many characters of a name.
  constexpr std::size_t name_bytes_max = 17;
  Table table({{"operation"},
               {"backend"},
               {"cases", Align::right},
               {"error/bound", Align::right},
               {"cells", Align::right},
               {"verdicts"}});
  for (const SummaryRow& row : summary.rows) {
    const Tally& tally = row.tally;
    table.add(
        {row.operation,
         shortened(row.backend, name_bytes_max),
         grouped(tally.cases),
         error_of(tally),
         fmt::format("{}/{}", tally.covered_cells, tally.required_cells - tally.refused_cells),
         to_text(tally)});
  }
  return table;
}

std::string outcome_line(const Tally& total) {
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : total.skips) {
    reasons.push_back(fmt::format("{} {}", count, reason));
  }
  const std::string why = reasons.empty() ? "" : fmt::format(" ({})", fmt::join(reasons, ", "));
  const std::string counts = to_text(total, why);
  return fmt::format(
      "{}: {}", counted(total.findings, "finding", "findings"), counts.empty() ? "none" : counts);
}

}  // namespace rankcheck::harness
