#include "harness/check/finding.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/case/call_class.hpp"

namespace rankcheck::harness {

namespace {

/// Orders the findings of several rounds of a unit: the most severe one is kept.
int severity(const Finding& finding) {
  if (finding.verdict == Verdict::passed || finding.is_known || lacks_coverage(finding)) return 0;
  if (finding.verdict == Verdict::skipped) return 1;
  return finding.verdict == Verdict::errored ? 2 : 3;
}

/// Shows the first known failure in place of a failure.
void show_known(Finding& finding) {
  const auto found =
      std::ranges::find_if(finding.known, [](const KnownCount& each) { return each.failed > 0; });
  if (found == finding.known.end()) return;
  finding.is_known = true;
  finding.verdict = found->verdict;
  finding.reason = found->reason;
  finding.minimal = found->minimal;
  finding.wrong = found->wrong;
  finding.wrong_count = found->wrong_count;
}

/// Removes what show_known() shows.
void hide_known(Finding& finding) {
  if (!finding.is_known) return;
  finding.is_known = false;
  finding.minimal.reset();
  finding.wrong.clear();
  finding.wrong_count = 0;
}

/// Adds the counts of a further round.
void merge(std::vector<KnownCount>& total, const std::vector<KnownCount>& round) {
  for (const KnownCount& each : round) {
    const auto found =
        std::ranges::find_if(total, [&](const KnownCount& one) { return one.id == each.id; });
    if (found == total.end()) {
      total.push_back(each);
      continue;
    }
    KnownCount sum = found->failed > 0 ? *found : each;
    sum.covered = found->covered + each.covered;
    sum.failed = found->failed + each.failed;
    sum.left_out = found->left_out + each.left_out;
    *found = std::move(sum);
  }
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
  std::ranges::sort(missing);
  hide_known(finding);
  finding.verdict = Verdict::passed;
  finding.reason.clear();
  const std::int64_t known = known_failures(finding);
  // A pinned case is all that its unit has to check.
  if (known > 0 && !finding.unit.pinned.empty()) return show_known(finding);
  // A known failure was found by comparing something.
  const bool compared = known > 0 || std::ranges::any_of(finding.cells, [](const auto& cell) {
                          return !is_site(cell.first);
                        });
  const auto fail = [&](std::string why) {
    finding.verdict = Verdict::vacuous;
    finding.reason = std::move(why);
    if (known > 0) finding.reason += "; " + known_text(finding);
    if (finding.refused_cases == 0) return;
    finding.reason += fmt::format("; the backend refused {} cases", finding.refused_cases);
    if (!finding.refusal.empty()) finding.reason += ": " + finding.refusal;
  };
  const auto& refused = finding.refused_cells;
  const auto is_refused = [&](const std::string& cell) {
    return std::ranges::find(refused, cell) != refused.end();
  };
  if (!compared) {
    fail(fmt::format("nothing was compared in {} cases", finding.cases));
  } else if (finding.unit.ranks_required > std::max(finding.ranks_max, 1)) {
    fail(fmt::format("no case had more than {}, expected one of {} ranks",
                     counted(finding.ranks_max, "rank", "ranks"),
                     finding.unit.ranks_required));
  } else if (finding.refused_cases > finding.cases) {
    fail(fmt::format("judged {} of {} cases, expected most of them",
                     finding.cases,
                     finding.cases + finding.refused_cases));
  } else if (!missing.empty()) {
    fail(fmt::format("{} of {} cells were not covered in {} cases, first {}{}",
                     missing.size(),
                     finding.cells.size() + missing.size(),
                     finding.cases,
                     missing.front(),
                     is_refused(missing.front()) ? ", which is not offered" : ""));
  } else {
    show_known(finding);
  }
}

std::int64_t known_failures(const Finding& finding) {
  std::int64_t failed = 0;
  for (const KnownCount& each : finding.known) failed += each.failed;
  return failed;
}

std::int64_t left_out_cases(const Finding& finding) {
  std::int64_t left_out = 0;
  for (const KnownCount& each : finding.known) left_out += each.left_out;
  return left_out;
}

std::string known_text(const Finding& finding) {
  std::string text;
  for (const KnownCount& each : finding.known) {
    if (each.failed == 0) continue;
    text += fmt::format("{}known {} ({} of {} cases failed{})",
                        text.empty() ? "" : ", ",
                        each.id,
                        each.failed,
                        each.covered,
                        each.left_out > 0 ? fmt::format(", {} were left out", each.left_out) : "");
  }
  return text;
}

void merge(Finding& total, const Finding& round) {
  Finding out = severity(round) > severity(total) ? round : total;
  out.unit = total.unit;
  out.cases = total.cases + round.cases;
  out.refused_cases = total.refused_cases + round.refused_cases;
  out.refusal = total.refusal.empty() ? round.refusal : total.refusal;
  out.ranks_max = std::max(total.ranks_max, round.ranks_max);
  out.compared_bytes = total.compared_bytes + round.compared_bytes;
  out.ratio_max = std::max(total.ratio_max, round.ratio_max);
  out.power = total.power;
  out.power.add(round.power);
  out.powerless_cases = total.powerless_cases + round.powerless_cases;
  out.cells = total.cells;
  for (const auto& [cell, count] : round.cells) out.cells[cell] += count;
  out.cell_members = total.cell_members;
  for (const auto& [cell, counts] : round.cell_members) {
    for (const auto& [members, cases] : counts.cases) {
      out.cell_members[cell].cases[members] += cases;
    }
  }
  out.known = total.known;
  merge(out.known, round.known);
  // The cells that a round lists and no case has covered.
  const auto uncovered = [&](std::vector<std::string> Finding::*cells) {
    std::set<std::string> all((total.*cells).begin(), (total.*cells).end());
    all.insert((round.*cells).begin(), (round.*cells).end());
    std::erase_if(all, [&](const std::string& cell) { return out.cells.contains(cell); });
    return std::vector<std::string>(all.begin(), all.end());
  };
  out.known_cells = uncovered(&Finding::known_cells);
  out.missing_cells = uncovered(&Finding::missing_cells);
  std::erase_if(out.missing_cells, [&](const std::string& cell) {
    return std::ranges::binary_search(out.known_cells, cell);
  });
  // Draws differ between rounds: a cell that one round found no case for may be covered in another.
  out.refused_cells = uncovered(&Finding::refused_cells);
  if (severity(out) == 0) judge_coverage(out);
  total = std::move(out);
}

}  // namespace rankcheck::harness
