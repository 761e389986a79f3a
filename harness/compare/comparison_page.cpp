#include "harness/compare/comparison_page.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/compare/known_failures.hpp"
#include "harness/compare/trend_page.hpp"
#include "harness/page/cards.hpp"
#include "harness/page/html.hpp"
#include "harness/page/limits.hpp"
#include "harness/page/style.hpp"
#include "harness/table.hpp"

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
  /// The number of changes as a part of a sentence: "1 unit is newly broken".
  std::string_view one;
  std::string_view many;
  std::string_view meaning;
};

constexpr std::array sections{
    Section{Kind::newly_broken,
            "Newly broken",
            "unit is newly broken",
            "units are newly broken",
            "These units fail now. They passed before, or were not judged."},
    Section{
        Kind::flaky,
        "Flaky",
        "flaky unit",
        "flaky units",
        "These units fail in some repetitions of one case only, or did so before. A unit that was "
        "flaky and passes now may have passed by chance."},
    Section{Kind::still_broken,
            "Still broken",
            "unit is still broken",
            "units are still broken",
            "These units failed before and fail now, perhaps in another way."},
    Section{Kind::mended,
            "Mended",
            "unit is mended",
            "units are mended",
            "These units failed before and pass now."},
    Section{Kind::coverage_lost,
            "Coverage lost",
            "loss of coverage",
            "losses of coverage",
            "These units were judged before and are not judged now, or cover less. A star stands "
            "for all algorithms or operations."},
    Section{Kind::coverage_gained,
            "Coverage gained",
            "gain of coverage",
            "gains of coverage",
            "These units are judged now and were not judged before, or cover more."},
    Section{Kind::accuracy_lost,
            "Larger errors",
            "larger error",
            "larger errors",
            "The largest error of these units, as a share of the bound that is proved for it, has "
            "grown. Above 1, a unit fails."},
    Section{Kind::accuracy_gained,
            "Smaller errors",
            "smaller error",
            "smaller errors",
            "The largest error of these units, as a share of the bound that is proved for it, has "
            "shrunk."},
    Section{
        Kind::speed_lost,
        "Slower",
        "measurement is slower",
        "measurements are slower",
        "These measurements of rankcheck bench are slower by more than the noise of both runs."},
    Section{
        Kind::speed_gained,
        "Faster",
        "measurement is faster",
        "measurements are faster",
        "These measurements of rankcheck bench are faster by more than the noise of both runs."},
    Section{Kind::power,
            "Power of the checks",
            "other power",
            "other powers",
            "The checks of these units would find larger or smaller changes only."},
    Section{Kind::known,
            "Known defects of both runs",
            "other state of a known defect",
            "other states of known defects",
            "Both runs were given these known defects, and say something else of them."},
    Section{Kind::not_judged,
            "Not judged in either run",
            "unit or group was not judged, for another reason",
            "units or groups were not judged, for other reasons",
            "Neither run says anything about these units, and the reasons differ."},
    Section{Kind::options,
            "What was asked for",
            "other option",
            "other options",
            "The two runs were asked for different things, or one of them ended early."},
    Section{Kind::version,
            "Versions and machines",
            "other version or setting",
            "other versions or settings",
            "These are the differences between the two runs in libraries, drivers, devices, "
            "rankcheck and the machine."},
    Section{Kind::duration,
            "Durations",
            "other duration",
            "other durations",
            "These units take much longer or much less long than before. A busy machine is enough "
            "for that."},
};

std::string id_of(const Section& section) {
  return std::string(name(section.kind));
}

std::string counted_changes(const Section& section, std::int64_t count) {
  return counted(count, section.one, section.many);
}

/// Number of changes of a kind that make the comparison fail.
std::int64_t count_worse(const ComparedRuns& runs, Kind kind) {
  const auto& changes = runs.comparison.changes;
  return std::count_if(changes.begin(), changes.end(), [&](const Change& each) {
    return each.kind == kind && is_worse(each, runs.matters);
  });
}

/// The verdict in a sentence.
std::string headline_of(const ComparedRuns& runs) {
  std::string worse;
  for (const Section& each : sections) {
    const std::int64_t count = count_worse(runs, each.kind);
    if (count > 0) worse += (worse.empty() ? "" : ", ") + counted_changes(each, count);
  }
  if (!worse.empty()) return "Worse: " + worse + ".";
  if (is_worse(runs)) return "Worse: a known defect is stale.";
  const std::string common = counted(runs.comparison.common_units, "unit", "units");
  if (runs.comparison.is_empty()) {
    return fmt::format("Not worse: nothing changed in the {} that both runs judged.", common);
  }
  return fmt::format("Not worse: none of the {} that both runs judged got worse.", common);
}

/// The failures of a kind. A unit that passes now, or whose finding this version of rankcheck
/// cannot read, has no card.
struct Failures {
  std::vector<Finding> findings;
  std::vector<page::FailureGroup> groups;
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
  for (const Change& change : runs.comparison.changes) {
    if (change.kind != kind) continue;
    const auto found = runs.now.findings.find(change.what);
    auto finding = found == runs.now.findings.end() ? std::nullopt : readable(found->second.whole);
    if (!finding) {
      out.without_card.push_back(&change);
      continue;
    }
    out.more[finding->unit.id()] = more_of(change);
    out.findings.push_back(std::move(*finding));
  }
  out.groups = page::group_findings(out.findings, [](const Finding&) { return true; });
  return out;
}

void write_links(Html& html, const ComparedRuns& runs, const Failures& broken) {
  constexpr std::size_t named_max = 5;
  const Html::Element list = html.open("ul");
  for (std::size_t i = 0; i < std::min(broken.groups.size(), named_max); ++i) {
    const Html::Element item = html.open("li");
    html.leaf("a",
              page::line_of(broken.groups[i]),
              {{"href", fmt::format("#{}-{}", name(Kind::newly_broken), i + 1)}});
    if (const std::string extent = page::extent_of(broken.groups[i]); !extent.empty()) {
      html.leaf("span", fmt::format(" ({})", extent), {{"class", "faint"}});
    }
  }
  for (const Section& each : sections) {
    const std::int64_t count = runs.comparison.count(each.kind);
    if (count == 0) continue;
    const Html::Element item = html.open("li");
    html.leaf("a", counted_changes(each, count), {{"href", "#" + id_of(each)}});
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
            {{"class", before == now ? "quiet" : "doubt"}});
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
    write_row(html, "asked for", before.run.dump(), now.run.dump());
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
  write_changes(html, counted_changes(which, std::ssize(all)), all);
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

/// Writes the cards of a kind of failures. Returns how many cards it wrote.
std::size_t write_failures(Html& html,
                           const Section& which,
                           const Failures& failures,
                           std::size_t cards_left) {
  const std::string id = id_of(which);
  if (failures.findings.empty() && failures.without_card.empty()) return 0;
  const Html::Element section = html.open("section", {{"aria-labelledby", id}});
  html.leaf("h2", which.title, {{"id", id}});
  html.leaf("p", which.meaning, {{"class", "faint"}});
  const auto more = [&](const Finding& finding) { return failures.more.at(finding.unit.id()); };
  const std::size_t open_max = which.kind == Kind::newly_broken ? 3 : 0;
  const std::size_t cards = page::write_cards(html,
                                              failures.groups,
                                              {.id = id,
                                               .most = cards_left,
                                               .open_max = open_max,
                                               .say_more = more,
                                               .whole_list = whole_list});
  write_changes(html, "Units without a card", failures.without_card);
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
      html.leaf("h1", headline_of(runs));
      write_links(html, runs, failures.at(Kind::newly_broken));
    }
    write_runs(html, runs);
    std::size_t cards_left = page::cards_max;
    for (const Section& each : sections) {
      const auto found = failures.find(each.kind);
      if (found == failures.end()) {
        write_section(html, runs, each);
      } else {
        cards_left -= write_failures(html, each, found->second, cards_left);
      }
    }
    write_known(html, runs.known);
    write_trend(html, runs.trend);
    html.leaf("p",
              "A comparison is about what these runs checked, and about nothing else.",
              {{"class", "faint"}});
  }
  return page::document(is_bad ? "rankcheck: worse" : "rankcheck: not worse",
                        std::move(html).take());
}

}  // namespace rankcheck::harness::compare
