#include "harness/finding.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "harness/site_class.hpp"

namespace rankcheck::harness {

namespace {

/// Orders the findings of several rounds of a unit: the most severe one is kept.
int severity(const Finding& finding) {
  if (finding.verdict == Verdict::passed || lacks_coverage(finding)) return 0;
  if (finding.verdict == Verdict::skipped) return 1;
  return finding.verdict == Verdict::errored ? 2 : 3;
}

}  // namespace

std::string Unit::id() const {
  std::string text = fmt::format("{}/{}/{}/{}", operation, algorithm, tested(), property);
  if (!variant.empty()) text += "@" + variant;
  if (!pinned.empty()) text += ":" + pinned;
  return text;
}

void judge_coverage(Finding& finding) {
  auto& missing = finding.missing_cells;
  std::sort(missing.begin(), missing.end());
  finding.verdict = Verdict::passed;
  finding.reason.clear();
  const bool compared = std::any_of(finding.cells.begin(),
                                    finding.cells.end(),
                                    [](const auto& cell) { return !is_site(cell.first); });
  const auto fail = [&](std::string why) {
    finding.verdict = Verdict::vacuous;
    finding.reason = std::move(why);
    if (finding.refused_cases == 0) return;
    finding.reason += fmt::format("; the backend refused {} cases", finding.refused_cases);
  };
  const auto& refused = finding.refused_cells;
  const auto is_refused = [&](const std::string& cell) {
    return std::find(refused.begin(), refused.end(), cell) != refused.end();
  };
  if (!compared) {
    fail(fmt::format("nothing was compared in {} cases", finding.cases));
  } else if (finding.unit.ranks_required > std::max(finding.ranks_max, 1)) {
    fail(fmt::format("expected a case of {} ranks, and none had more than {}",
                     finding.unit.ranks_required,
                     finding.ranks_max));
  } else if (finding.refused_cases > finding.cases) {
    fail(fmt::format("expected most of {} cases to be judged, got {}",
                     finding.cases + finding.refused_cases,
                     finding.cases));
  } else if (!missing.empty()) {
    fail(fmt::format("{} of {} cells were not covered in {} cases, first {}{}",
                     missing.size(),
                     finding.cells.size() + missing.size(),
                     finding.cases,
                     missing.front(),
                     is_refused(missing.front()) ? ", which the backend refuses" : ""));
  }
}

bool lacks_coverage(const Finding& finding) {
  return finding.verdict == Verdict::vacuous && !finding.minimal;
}

void merge(Finding& total, const Finding& round) {
  Finding out = severity(round) > severity(total) ? round : total;
  out.unit = total.unit;
  out.cases = total.cases + round.cases;
  out.refused_cases = total.refused_cases + round.refused_cases;
  out.ranks_max = std::max(total.ranks_max, round.ranks_max);
  out.compared_bytes = total.compared_bytes + round.compared_bytes;
  out.ratio_max = std::max(total.ratio_max, round.ratio_max);
  out.power = total.power;
  out.power.add(round.power);
  out.powerless_cases = total.powerless_cases + round.powerless_cases;
  out.cells = total.cells;
  for (const auto& [cell, count] : round.cells) out.cells[cell] += count;
  std::set<std::string> missing(total.missing_cells.begin(), total.missing_cells.end());
  missing.insert(round.missing_cells.begin(), round.missing_cells.end());
  std::erase_if(missing, [&](const std::string& cell) { return out.cells.contains(cell); });
  out.missing_cells.assign(missing.begin(), missing.end());
  // Draws differ between rounds: a cell that one round found no case for may be covered in another.
  std::set<std::string> refused(total.refused_cells.begin(), total.refused_cells.end());
  refused.insert(round.refused_cells.begin(), round.refused_cells.end());
  std::erase_if(refused, [&](const std::string& cell) { return out.cells.contains(cell); });
  out.refused_cells.assign(refused.begin(), refused.end());
  if (severity(out) == 0) judge_coverage(out);
  total = std::move(out);
}

}  // namespace rankcheck::harness
