#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/compare/comparison_text.hpp"
#include "harness/compare/known_failures.hpp"
#include "harness/page/page.hpp"
#include "harness/report/causes.hpp"
#include "harness/report/report.hpp"

namespace rankcheck::harness::compare {

namespace {

using nlohmann::ordered_json;

/// The finding of a failure. Empty if this version of rankcheck cannot read it.
std::optional<Finding> finding_of(const ComparedRuns& runs, const Change& change) {
  const auto found = runs.now.findings.find(change.what);
  if (found == runs.now.findings.end() || found->second.whole.is_null()) return std::nullopt;
  try {
    return finding_from_json(found->second.whole);
  } catch (const BadInput&) {
    return std::nullopt;
  }
}

/// Adds the failures of a kind with their causes: those that known defects explain, or the others.
void add_failures(const ComparedRuns& runs, Kind kind, bool are_known, ordered_json& data) {
  std::vector<Finding> findings;
  std::set<std::string> passed_before;
  for (const Change& change : runs.comparison.changes) {
    if (change.kind != kind || change.known.empty() == are_known) continue;
    std::optional<Finding> finding = finding_of(runs, change);
    if (!finding) continue;
    if (change.before == name(Verdict::passed)) passed_before.insert(finding->unit.id());
    data["findings"].push_back(page::to_page_json(*finding));
    findings.push_back(std::move(*finding));
  }
  auto groups = group_findings(findings, [](const Finding&) { return true; });
  // What passed before says most about what changed between the runs.
  const auto rank_of = [&](const FailureGroup& group) {
    const auto passed =
        std::count_if(group.findings.begin(), group.findings.end(), [&](const Finding* finding) {
          return passed_before.contains(finding->unit.id());
        });
    return std::pair(-passed, -std::ssize(group.findings));
  };
  std::stable_sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) {
    return rank_of(a) < rank_of(b);
  });
  for (const FailureGroup& each : groups) {
    ordered_json cause = harness::to_json(each);
    cause["kind"] = name(kind);
    cause["is_known"] = are_known;
    data["causes"].push_back(std::move(cause));
  }
}

/// The cells that the units of one operation on one backend covered.
using Cells = std::set<std::string_view>;

/// What one run judged.
struct Judged {
  std::set<std::string_view> operations;
  std::set<std::string> algorithms;
  std::set<std::string_view> backends;
  std::int64_t units = 0;
  std::int64_t cases = 0;
  int ranks_max = 0;
  /// The cells of each operation and backend.
  std::map<std::pair<std::string_view, std::string_view>, Cells> cells;
};

/// The report must outlive what this returns.
Judged judged_in(const RunReport& run) {
  Judged out;
  for (const auto& [id, unit] : run.findings) {
    if (!is_judged(unit.verdict)) continue;
    out.operations.insert(unit.operation);
    out.algorithms.insert(unit.operation + '/' + unit.algorithm);
    out.backends.insert(unit.tested);
    ++out.units;
    out.cases += unit.cases;
    out.ranks_max = std::max(out.ranks_max, unit.ranks_max);
    if (unit.minimal.is_object()) {
      const ordered_json ranks = unit.minimal.value("ranks", ordered_json());
      if (ranks.is_number_integer()) out.ranks_max = std::max(out.ranks_max, ranks.get<int>());
    }
    Cells& cells = out.cells[{unit.operation, unit.tested}];
    cells.insert(unit.cells.begin(), unit.cells.end());
  }
  return out;
}

/// "2: all_reduce, broadcast".
std::string count_and_names(const std::set<std::string_view>& names) {
  constexpr std::size_t named_max = 12;
  if (names.empty()) return "none";
  return fmt::format("{}: {}",
                     names.size(),
                     first_of(std::vector<std::string>(names.begin(), names.end()), named_max));
}

/// What each run checked, a row each: what, before, now.
ordered_json checked_rows(const Judged& before, const Judged& now) {
  ordered_json rows = ordered_json::array();
  const auto row = [&](const char* what, const auto& text_of) {
    rows.push_back({what, text_of(before), text_of(now)});
  };
  row("operations", [](const Judged& run) { return count_and_names(run.operations); });
  row("algorithms", [](const Judged& run) { return grouped(std::ssize(run.algorithms)); });
  row("backends", [](const Judged& run) { return count_and_names(run.backends); });
  row("ranks", [](const Judged& run) {
    return run.ranks_max > 0 ? fmt::format("up to {}", run.ranks_max) : "not known";
  });
  row("judged units", [](const Judged& run) { return grouped(run.units); });
  row("cases", [](const Judged& run) { return grouped(run.cases); });
  row("covered cells", [](const Judged& run) {
    std::int64_t cells = 0;
    for (const auto& [names, each] : run.cells) cells += std::ssize(each);
    return grouped(cells);
  });
  return rows;
}

/// "lost f32/max, f32/min; gained int8/max". Empty if nothing changed.
std::string cell_changes(const Cells& before, const Cells& now) {
  constexpr std::size_t named_max = 5;
  std::string text;
  const auto add = [&](const char* what, const Cells& all, const Cells& others) {
    std::vector<std::string> only;
    for (const std::string_view each : all) {
      if (!others.contains(each)) only.emplace_back(each);
    }
    if (only.empty()) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", what, first_of(only, named_max));
  };
  add("lost", before, now);
  add("gained", now, before);
  return text;
}

/// The cells that either run covered, a row for each operation and backend: operation, backend,
/// number before, number now, what changed.
ordered_json cell_rows(Judged& before, Judged& now) {
  std::set<std::pair<std::string_view, std::string_view>> pairs;
  for (const Judged* each : {&before, &now}) {
    for (const auto& [names, cells] : each->cells) pairs.insert(names);
  }
  ordered_json rows = ordered_json::array();
  for (const auto& names : pairs) {
    const Cells& was = before.cells[names];
    const Cells& is = now.cells[names];
    rows.push_back({names.first, names.second, was.size(), is.size(), cell_changes(was, is)});
  }
  return rows;
}

/// The JSON of the comparison. Changes also have the command that replays their case, and rows of
/// the trend the worst verdicts beside known failures, and whether only these count.
ordered_json whole_json(const ComparedRuns& runs) {
  ordered_json out = to_json(runs);
  for (ordered_json& change : out["changes"]) {
    const auto minimal = change.find("minimal");
    if (minimal == change.end()) continue;
    change["replay"] = replay_line(minimal->dump());
    change.erase("minimal");
  }
  for (std::size_t i = 0; i < runs.trend.rows.size(); ++i) {
    ordered_json beside = ordered_json::array();
    ordered_json only_known = ordered_json::array();
    for (const TrendPoint& each : runs.trend.rows[i].points) {
      const auto& verdict = each.verdict_beside_known;
      beside.push_back(verdict ? ordered_json(name(*verdict)) : ordered_json());
      only_known.push_back(each.fails_only_as_known());
    }
    out["trend"][i].update({{"beside", beside}, {"only_known", only_known}});
  }
  return out;
}

}  // namespace

std::string to_html(const ComparedRuns& runs) {
  ordered_json data{{"verdict", verdict_of(runs)},
                    {"counted", ordered_json::object()},
                    {"findings", ordered_json::array()},
                    {"causes", ordered_json::array()},
                    {"known", ordered_json::array()}};
  data["comparison"] = whole_json(runs);
  for (const Kind kind : {Kind::newly_broken, Kind::flaky, Kind::still_broken}) {
    for (const bool are_known : {false, true}) add_failures(runs, kind, are_known, data);
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    data["counted"][std::string(kinds[i].name)] =
        counted_changes(runs.comparison, static_cast<Kind>(i));
  }
  for (const KnownStatus& each : runs.known) data["known"].push_back(known_line(each));
  Judged before = judged_in(runs.before);
  Judged now = judged_in(runs.now);
  data["checked"] = checked_rows(before, now);
  data["cells"] = cell_rows(before, now);
  return page::document({.title = is_worse(runs) ? "rankcheck: worse" : "rankcheck: not worse",
                         .verdict = verdict_of(runs),
                         .text = to_text(runs, "rankcheck")},
                        std::move(data));
}

}  // namespace rankcheck::harness::compare
