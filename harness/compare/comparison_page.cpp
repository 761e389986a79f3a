#include "harness/compare/comparison_page.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/table.hpp"
#include "harness/compare/known_failures.hpp"
#include "harness/compare/trend_page.hpp"
#include "harness/page/cards.hpp"
#include "harness/page/html.hpp"
#include "harness/page/limits.hpp"
#include "harness/page/sections.hpp"
#include "harness/page/style.hpp"

namespace rankcheck::harness::compare {

namespace {

using nlohmann::ordered_json;
using page::Html;

constexpr std::size_t cell_bytes_max = 240;
/// What lists the changes that the page leaves out.
const std::string whole_list = "rankcheck compare --format json";

/// How a kind of change is shown.
struct Section {
  Kind kind;
  std::string_view title;
  std::string_view meaning;
};

constexpr std::array sections{
    Section{Kind::newly_broken, "Newly broken", "These units fail now, and did not fail before."},
    Section{
        Kind::flaky,
        "Flaky",
        "These units fail in some repetitions of one case only, or did so before. A unit that was "
        "flaky and passes now may have passed by chance."},
    Section{Kind::still_broken,
            "Still broken",
            "These units failed before and fail now, perhaps in another way."},
    Section{Kind::mended, "Mended", "These units failed before and pass now."},
    Section{Kind::coverage_lost,
            "Coverage lost",
            "These units were judged before and are not judged now, or cover less. A star stands "
            "for all algorithms or operations."},
    Section{Kind::coverage_gained,
            "Coverage gained",
            "These units are judged now and were not judged before, or cover more."},
    Section{Kind::accuracy_lost,
            "Larger errors",
            "The largest error of these units, as a share of the bound that is proved for it, has "
            "grown. Above 1, a unit fails."},
    Section{Kind::accuracy_gained,
            "Smaller errors",
            "The largest error of these units, as a share of the bound that is proved for it, has "
            "shrunk."},
    Section{Kind::speed_lost,
            "Slower",
            "These measurements or links are slower by more than the noise of both runs."},
    Section{Kind::speed_gained,
            "Faster",
            "These measurements or links are faster by more than the noise of both runs."},
    Section{Kind::power_lost,
            "Less power",
            "The checks of these units would find larger changes only, or more of their cases "
            "could not have failed."},
    Section{Kind::power_gained,
            "More power",
            "The checks of these units find smaller changes than before, or fewer of their cases "
            "could not have failed."},
    Section{Kind::known,
            "Known defects of both runs",
            "Both runs were given these known defects, and say something else of them."},
    Section{Kind::not_judged,
            "Not judged in either run",
            "Neither run says anything about these units, and the reasons differ."},
    Section{Kind::options,
            "What was asked for",
            "The two runs were asked for different things, or one of them ended early."},
    Section{Kind::version,
            "Versions and machines",
            "These are the differences between the two runs in libraries, drivers, devices, "
            "rankcheck and the machine."},
    Section{Kind::duration,
            "Durations",
            "These units take much longer or much less long than before. A busy machine is enough "
            "for that."},
};

std::string id_of(const Section& section) {
  return std::string(name(section.kind));
}

/// Findings with cards.
struct Carded {
  std::vector<Finding> findings;
  std::vector<page::FailureGroup> groups;
};

/// The failures of a kind. A unit that passes now, or whose finding this version of rankcheck
/// cannot read, has no card.
struct Failures {
  Carded unknown;
  /// Failures that known defects explain.
  Carded known;
  /// What is said of each unit besides its finding.
  std::map<std::string, std::string> more;
  std::vector<const Change*> without_card;
};

std::optional<Finding> readable(const ordered_json& text) {
  if (text.is_null()) return std::nullopt;
  try {
    return finding_from_json(text);
  } catch (const BadInput&) {
    return std::nullopt;
  }
}

/// What the unit was before, and which known defects explain its failures.
std::string more_of(const Change& change) {
  std::string text = change.before.empty() ? "This unit was not in the earlier run."
                                           : fmt::format("In the earlier run: {}.", change.before);
  if (change.known.empty()) return text;
  text += fmt::format(" Known: {}.", first_of(change.known, change.known.size()));
  if (change.may_hide_others) {
    text += " The unit ended there; run it with --known, so that this hides nothing else.";
  }
  return text;
}

Failures failures_of(const ComparedRuns& runs, Kind kind) {
  Failures out;
  std::set<std::string> passed_before;
  for (const Change& change : runs.comparison.changes) {
    if (change.kind != kind) continue;
    const auto found = runs.now.findings.find(change.what);
    auto finding = found == runs.now.findings.end() ? std::nullopt : readable(found->second.whole);
    if (!finding) {
      out.without_card.push_back(&change);
      continue;
    }
    out.more[finding->unit.id()] = more_of(change);
    if (change.before == name(Verdict::passed)) passed_before.insert(finding->unit.id());
    (change.known.empty() ? out.unknown : out.known).findings.push_back(std::move(*finding));
  }
  for (Carded* each : {&out.unknown, &out.known}) {
    each->groups = page::group_findings(each->findings, [](const Finding&) { return true; });
    // What passed before says most about what changed between the runs.
    const auto rank_of = [&](const page::FailureGroup& group) {
      const auto passed =
          std::count_if(group.findings.begin(), group.findings.end(), [&](const Finding* finding) {
            return passed_before.contains(finding->unit.id());
          });
      return std::pair(-passed, -std::ssize(group.findings));
    };
    std::stable_sort(each->groups.begin(), each->groups.end(), [&](const auto& a, const auto& b) {
      return rank_of(a) < rank_of(b);
    });
  }
  return out;
}

/// What the page says about a kind of failures. Of newly broken units, also what those that are not
/// known were before.
std::string meaning_of(const ComparedRuns& runs, const Section& which) {
  std::string text(which.meaning);
  if (which.kind != Kind::newly_broken) return text;
  std::int64_t passed = 0;
  std::int64_t absent = 0;
  std::int64_t others = 0;
  for (const Change& each : runs.comparison.changes) {
    if (each.kind != which.kind || !each.known.empty()) continue;
    ++(each.before == name(Verdict::passed) ? passed : each.before.empty() ? absent : others);
  }
  std::vector<std::string> parts;
  if (passed > 0) parts.push_back(counted(passed, "passed before", "passed before"));
  if (absent > 0) {
    parts.push_back(counted(absent, "was not in the earlier run", "were not in the earlier run"));
  }
  if (others > 0) parts.push_back(counted(others, "was not judged", "were not judged"));
  return text + fmt::format(" Of them, {}.", fmt::join(parts, ", "));
}

/// "mpi" for "backends.mpi.versions.mpi", "nccl driver" for "backends.nccl.versions.driver".
std::string library_of(const std::string& what) {
  const std::size_t start = what.find('.') + 1;
  const std::string backend = what.substr(start, what.find('.', start) - start);
  const std::string part = what.substr(what.rfind('.') + 1);
  return backend == part ? backend : backend + ' ' + part;
}

/// Names the libraries whose versions differ, because most other changes may come from these.
void write_libraries(Html& html, const Comparison& comparison) {
  constexpr std::size_t named_max = 3;
  constexpr std::size_t version_bytes_max = 60;
  std::size_t named = 0;
  for (const Change& each : comparison.changes) {
    if (each.kind != Kind::version || !each.what.starts_with("backends.")) continue;
    if (++named > named_max) break;
    const auto or_none = [](const std::string& text) {
      // The text after the first comma describes the package.
      return text.empty() ? "none" : shortened(text.substr(0, text.find(',')), version_bytes_max);
    };
    const Html::Element item = html.open("li");
    html.leaf("a",
              fmt::format("{}: {} before, {} now",
                          shortened(library_of(each.what), version_bytes_max),
                          or_none(each.before),
                          or_none(each.now)),
              {{"href", "#" + std::string(name(Kind::version))}});
  }
}

void write_links(Html& html,
                 const ComparedRuns& runs,
                 const std::vector<page::FailureGroup>& groups) {
  constexpr std::size_t named_max = 5;
  const Html::Element list = html.open("ul");
  write_libraries(html, runs.comparison);
  for (std::size_t i = 0; i < std::min(groups.size(), named_max); ++i) {
    const Html::Element item = html.open("li");
    html.leaf("a",
              page::line_of(groups[i]),
              {{"href", fmt::format("#{}-{}", name(Kind::newly_broken), i + 1)}});
    if (const std::string extent = page::extent_of(groups[i]); !extent.empty()) {
      html.leaf("span", fmt::format(" ({})", extent), {{"class", "faint"}});
    }
    if (i == 0) page::write_short_replay(html, *groups[i].findings.front());
  }
  if (groups.size() > named_max) {
    const Html::Element item = html.open("li");
    html.leaf("a",
              "and " + counted(std::ssize(groups) - static_cast<std::int64_t>(named_max),
                               "more cause",
                               "more causes"),
              {{"href", fmt::format("#{}-{}", name(Kind::newly_broken), named_max + 1)}});
  }
  for (const Section& each : sections) {
    if (runs.comparison.count(each.kind) == 0) continue;
    const Html::Element item = html.open("li");
    html.leaf("a", counted_changes(runs.comparison, each.kind), {{"href", "#" + id_of(each)}});
  }
  for (const auto& [id, title] :
       {std::pair("matrix", "operations and backends"), std::pair("coverage", "coverage")}) {
    const Html::Element item = html.open("li");
    html.leaf("a", title, {{"href", std::string("#") + id}});
  }
  if (runs.trend.runs.size() > 2) {
    const Html::Element item = html.open("li");
    html.leaf("a", fmt::format("over all {} runs", runs.trend.runs.size()), {{"href", "#trend"}});
  }
}

std::string text_in(const ordered_json& object, const std::string& field) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return "not known";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

/// "Open MPI 4.1.4" for each backend with versions.
void add_backends(const ordered_json& environment, std::map<std::string, std::string>& rows) {
  const auto backends = environment.find("backends");
  if (backends == environment.end() || !backends->is_object()) return;
  for (const auto& [backend, what] : backends->items()) {
    std::string text;
    const auto versions = what.is_object() ? what.find("versions") : what.end();
    if (versions == what.end() || !versions->is_object()) continue;
    for (const auto& [part, version] : versions->items()) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part, text_in(*versions, part));
    }
    if (!text.empty()) rows[backend] = text;
  }
}

void write_row(Html& html,
               const std::string& what,
               const std::string& before,
               const std::string& now) {
  const Html::Element row = html.open("tr");
  html.leaf("th", shortened(what, 80), {{"scope", "row"}});
  html.leaf("td", shortened(before, cell_bytes_max), {{"class", "said"}});
  html.leaf("td", shortened(now, cell_bytes_max), {{"class", "said"}});
  html.leaf("td",
            before == now ? "same" : "\u2260 differs",
            {{"class", before == now ? "badge quiet" : "badge doubt"}});
}

/// The cells that the units of one operation on one backend covered.
using Cells = std::set<std::string_view>;

/// What one run judged, or one operation on one backend in it.
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

void write_checked(Html& html, const Judged& before, const Judged& now) {
  const Html::Element section = html.open("section", {{"aria-labelledby", "checked"}});
  html.leaf("h2", "What was checked", {{"id", "checked"}});
  page::write_table(html, "What each run checked", [&] {
    page::write_head(html, {"what", "before", "now", "same?"});
    const Html::Element body = html.open("tbody");
    const auto row = [&](const char* what, const auto& text_of) {
      write_row(html, what, text_of(before), text_of(now));
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
  });
  html.leaf("p",
            "Units that were skipped, or that could not be checked, are not counted here.",
            {{"class", "faint"}});
}

/// The verdict of an operation on a backend in one run.
page::Look look_of(const TrendPoint& point) {
  if (!point.verdict) return {"quiet", "\u2013 not in the run"};
  if (point.failed == 0) return page::look_of(*point.verdict);
  if (point.fails_only_as_known()) {
    return {"doubt", fmt::format("! known, {} of {}", point.failed, point.units)};
  }
  if (point.known == point.failed) {
    page::Look look = page::look_of(*point.verdict_beside_known);
    look.text += fmt::format(", and {} known", point.failed);
    return look;
  }
  page::Look look = page::look_of(*point.verdict);
  look.text += fmt::format(", {} of {}", point.failed, point.units);
  return look;
}

std::string error_of(const TrendPoint& point) {
  if (!point.ratio_max) return "none";
  return *point.ratio_max == 0 ? "exact" : fmt::format("{:.3g}", *point.ratio_max);
}

void write_pair(Html& html, const TrendPoint& before, const TrendPoint& now) {
  const page::Look was = look_of(before);
  const page::Look is = look_of(now);
  const Html::Element cell = html.open("td");
  const auto badge = [&](const page::Look& look) {
    html.leaf("span", look.text, {{"class", "badge " + look.css}});
  };
  badge(was);
  if (was.text == is.text) {
    html.leaf("span", " as before", {{"class", "faint"}});
  } else {
    html.text(" \u2192 ");
    badge(is);
  }
  if (!before.ratio_max && !now.ratio_max) return;
  const std::string error = error_of(before);
  html.leaf("div",
            error == error_of(now) ? error : fmt::format("{} \u2192 {}", error, error_of(now)),
            {{"class", "faint"}});
}

/// The operations and backends of both runs, with their verdicts and errors.
void write_pairs(Html& html, const Trend& trend) {
  constexpr std::size_t columns_max = 30;
  const std::size_t last = trend.runs.size() - 1;
  std::map<std::string_view, std::map<std::string_view, const TrendRow*>> rows;
  std::set<std::string_view> backends;
  for (const TrendRow& each : trend.rows) {
    if (!each.points[last - 1].verdict && !each.points[last].verdict) continue;
    rows[each.operation][each.tested] = &each;
    backends.insert(each.tested);
  }
  const Html::Element section = html.open("section", {{"aria-labelledby", "matrix"}});
  html.leaf("h2", "Operations and backends", {{"id", "matrix"}});
  html.leaf("p",
            "Each cell has the worst verdict before and now, and below it the worst error/bound of "
            "the units that passed.",
            {{"class", "faint"}});
  std::vector<std::string_view> columns(backends.begin(), backends.end());
  if (columns.size() > columns_max) columns.resize(columns_max);
  page::write_table(html, "Verdict and worst error/bound, before and now", [&] {
    std::vector<std::string> head{"operation"};
    for (const std::string_view each : columns) {
      head.push_back(shortened(each, page::name_bytes_max));
    }
    page::write_head(html, head);
    const Html::Element body = html.open("tbody");
    std::size_t written = 0;
    for (const auto& [operation, of_backends] : rows) {
      if (++written > page::rows_max) break;
      const Html::Element row = html.open("tr");
      html.leaf("th", shortened(operation, page::name_bytes_max), {{"scope", "row"}});
      for (const std::string_view backend : columns) {
        const auto found = of_backends.find(backend);
        if (found == of_backends.end()) {
          html.leaf("td", "-");
        } else {
          write_pair(html, found->second->points[last - 1], found->second->points[last]);
        }
      }
    }
  });
  if (rows.size() > page::rows_max) {
    html.leaf("p", fmt::format("and {} more operations", rows.size() - page::rows_max));
  }
  if (backends.size() > columns_max) {
    html.leaf("p", fmt::format("and {} more backends", backends.size() - columns_max));
  }
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

/// The cells that either run covered.
void write_cells(Html& html, const Judged& before, const Judged& now) {
  std::set<std::pair<std::string_view, std::string_view>> pairs;
  for (const Judged* each : {&before, &now}) {
    for (const auto& [names, cells] : each->cells) pairs.insert(names);
  }
  const Html::Element section = html.open("section", {{"aria-labelledby", "coverage"}});
  html.leaf("h2", "Coverage", {{"id", "coverage"}});
  html.leaf("p",
            "A cell is what cases must cover, such as a type with a reduction, or a number of "
            "ranks. A unit that failed ended early, so it covered fewer cells.",
            {{"class", "faint"}});
  page::write_table(html, "Cells that cases covered", [&] {
    page::write_head(html, {"operation", "backend", "before", "now", "what changed"});
    const Html::Element body = html.open("tbody");
    std::size_t written = 0;
    for (const auto& names : pairs) {
      if (++written > page::rows_max) break;
      const auto cells_of = [&](const Judged& run) {
        const auto found = run.cells.find(names);
        return found == run.cells.end() ? Cells() : found->second;
      };
      const Cells was = cells_of(before);
      const Cells is = cells_of(now);
      const std::string changes = cell_changes(was, is);
      const Html::Element row = html.open("tr");
      html.leaf("th", shortened(names.first, page::name_bytes_max), {{"scope", "row"}});
      html.leaf("td", shortened(names.second, page::name_bytes_max));
      html.leaf("td", grouped(std::ssize(was)), {{"class", "number"}});
      html.leaf("td", grouped(std::ssize(is)), {{"class", "number"}});
      html.leaf("td",
                changes.empty() ? "same cells" : shortened(changes, cell_bytes_max),
                {{"class", changes.empty() ? "said quiet" : "said"}});
    }
  });
  if (pairs.size() > page::rows_max) {
    html.leaf("p", fmt::format("and {} more rows", pairs.size() - page::rows_max));
  }
}

/// The two runs side by side.
void write_runs(Html& html, const ComparedRuns& runs) {
  const Html::Element section = html.open("section", {{"aria-labelledby", "runs"}});
  html.leaf("h2", "The two runs", {{"id", "runs"}});
  page::write_table(html, "What was compared", [&] {
    page::write_head(html, {"what", "before", "now", "same?"});
    const Html::Element body = html.open("tbody");
    const RunReport& before = runs.before;
    const RunReport& now = runs.now;
    write_row(html, "report", before.name, now.name);
    write_row(
        html, "units", grouped(std::ssize(before.findings)), grouped(std::ssize(now.findings)));
    write_row(html, "asked for", page::asked_for(before.run), page::asked_for(now.run));
    write_row(html, "ending", before.ending, now.ending);
    for (const char* each : {"started", "rankcheck", "commit", "host", "system", "processor"}) {
      write_row(html, each, text_in(before.environment, each), text_in(now.environment, each));
    }
    std::map<std::string, std::string> was;
    std::map<std::string, std::string> is;
    add_backends(before.environment, was);
    add_backends(now.environment, is);
    std::set<std::string> names;
    for (const auto* all : {&was, &is}) {
      for (const auto& [backend, text] : *all) names.insert(backend);
    }
    for (const std::string& each : names) {
      const auto of = [&](const auto& all) {
        const auto found = all.find(each);
        return found == all.end() ? "not known" : found->second;
      };
      write_row(html, each, of(was), of(is));
    }
  });
  html.leaf("p",
            "The same means that both reports say the same. The files of a library or a program "
            "are not compared.",
            {{"class", "faint"}});
}

/// A table of the changes, of which each becomes a row.
void write_changes(Html& html, const std::string& caption, const std::vector<const Change*>& all) {
  if (all.empty()) return;
  page::write_table(html, caption, [&] {
    page::write_head(html, {"what", "before", "now"});
    const Html::Element body = html.open("tbody");
    for (std::size_t i = 0; i < std::min(all.size(), page::rows_max); ++i) {
      const Change& change = *all[i];
      const auto or_nothing = [](const std::string& text) {
        return text.empty() ? std::string("-") : shortened(text, cell_bytes_max);
      };
      const Html::Element row = html.open("tr");
      html.leaf("th", shortened(change.what, 200), {{"scope", "row"}});
      html.leaf("td", or_nothing(change.before), {{"class", "said"}});
      const Html::Element cell = html.open("td", {{"class", "said"}});
      html.text(or_nothing(change.now));
      if (change.minimal.is_null()) continue;
      const std::string command = "rankcheck replay " + shell_quoted(change.minimal.dump());
      if (command.size() <= page::further_command_bytes_max) page::write_command(html, command);
    }
  });
  if (all.size() > page::rows_max) {
    html.leaf("p",
              fmt::format("and {} more, which {} lists",
                          grouped(std::ssize(all) - static_cast<std::int64_t>(page::rows_max)),
                          whole_list));
  }
}

void write_section(Html& html, const ComparedRuns& runs, const Section& which) {
  std::vector<const Change*> all;
  for (const Change& each : runs.comparison.changes) {
    if (each.kind == which.kind) all.push_back(&each);
  }
  if (all.empty()) return;
  const std::string id = id_of(which);
  const Html::Element section = html.open("section", {{"aria-labelledby", id}});
  html.leaf("h2", which.title, {{"id", id}});
  html.leaf("p", which.meaning, {{"class", "faint"}});
  write_changes(html, counted_changes(which.kind, std::ssize(all)), all);
}

void write_known(Html& html, std::span<const KnownStatus> known) {
  if (known.empty()) return;
  const Html::Element section = html.open("section", {{"aria-labelledby", "known-defects"}});
  html.leaf("h2", "Known defects", {{"id", "known-defects"}});
  const Html::Element list = html.open("ul");
  for (const KnownStatus& each : known.first(std::min(known.size(), page::rows_max))) {
    html.leaf("li", shortened(known_line(each), 600));
  }
  if (known.size() > page::rows_max) {
    html.leaf("li", fmt::format("and {} more", known.size() - page::rows_max));
  }
}

/// "mpich-unsigned-max (59 units), mpich-tsp-brucks-gap (2 units)"
std::string known_names(const ComparedRuns& runs, Kind kind) {
  constexpr std::size_t named_max = 10;
  std::map<std::string, std::int64_t> units;
  for (const Change& each : runs.comparison.changes) {
    if (each.kind != kind) continue;
    for (const std::string& id : each.known) ++units[id];
  }
  std::vector<std::string> names;
  for (const auto& [id, count] : units) {
    names.push_back(fmt::format(
        "{} ({})", shortened(id, page::name_bytes_max), counted(count, "unit", "units")));
  }
  return first_of(names, named_max);
}

/// Writes the cards of a kind of failures. Returns how many cards it wrote.
std::size_t write_failures(Html& html,
                           const ComparedRuns& runs,
                           const Section& which,
                           const Failures& failures,
                           std::size_t cards_left) {
  const std::string id = id_of(which);
  const Carded& unknown = failures.unknown;
  const Carded& known = failures.known;
  const auto& without_card = failures.without_card;
  if (unknown.findings.empty() && known.findings.empty() && without_card.empty()) return 0;
  const Html::Element section = html.open("section", {{"aria-labelledby", id}});
  html.leaf("h2", which.title, {{"id", id}});
  html.leaf("p", meaning_of(runs, which), {{"class", "faint"}});
  const auto more = [&](const Finding& finding) { return failures.more.at(finding.unit.id()); };
  page::CardOptions options{.id = id,
                            .most = cards_left,
                            .open_max = which.kind == Kind::newly_broken ? 3U : 0U,
                            .say_more = more,
                            .whole_list = whole_list};
  std::size_t cards = page::write_cards(html, unknown.groups, options);
  if (!known.findings.empty()) {
    html.leaf("h3", std::string(which.title) + ", as known");
    html.leaf("p",
              fmt::format("These known defects explain the failures, so they do not count: {}.",
                          known_names(runs, which.kind)),
              {{"class", "faint"}});
    options.id = id + "-known";
    options.most = cards_left - cards;
    options.open_max = 0;
    cards += page::write_cards(html, known.groups, options);
  }
  write_changes(html, "Units without a card", without_card);
  return cards;
}

}  // namespace

std::string to_html(const ComparedRuns& runs) {
  std::map<Kind, Failures> failures;
  for (const Kind each : {Kind::newly_broken, Kind::flaky, Kind::still_broken}) {
    failures.emplace(each, failures_of(runs, each));
  }
  const bool is_bad = is_worse(runs);
  Html html;
  {
    const Html::Element main = html.open("main");
    {
      const Html::Element box = html.open("header",
                                          {{"id", "verdict"},
                                           {"tabindex", "-1"},
                                           {"class", is_bad ? "verdict bad" : "verdict good"}});
      html.leaf("h1", verdict_of(runs));
      write_links(html, runs, failures.at(Kind::newly_broken).unknown.groups);
    }
    const Judged before = judged_in(runs.before);
    const Judged now = judged_in(runs.now);
    write_checked(html, before, now);
    write_runs(html, runs);
    std::size_t cards_left = page::cards_max;
    for (const Section& each : sections) {
      const auto found = failures.find(each.kind);
      if (found == failures.end()) {
        write_section(html, runs, each);
      } else {
        cards_left -= write_failures(html, runs, each, found->second, cards_left);
      }
    }
    write_known(html, runs.known);
    write_pairs(html, runs.trend);
    write_cells(html, before, now);
    write_trend(html, runs.trend);
    html.leaf("p",
              "A comparison is about what these runs checked, and about nothing else.",
              {{"class", "faint"}});
  }
  return page::document(is_bad ? "rankcheck: worse" : "rankcheck: not worse",
                        std::move(html).take());
}

}  // namespace rankcheck::harness::compare
