#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "harness/page/causes.hpp"
#include "harness/page/pictures.hpp"
#include "harness/page/sections.hpp"
#include "harness/page/style.hpp"
#include "harness/page/values.hpp"
#include "harness/table.hpp"

namespace rankcheck::harness::page {

namespace {

constexpr std::size_t open_cards_max = 3;
constexpr std::size_t listed_findings_max = 20;
constexpr std::size_t listed_cells_max = 40;

std::string replay_of(const Finding& finding) {
  return "rankcheck replay " + shell_quoted(to_text(*finding.minimal));
}

/// The property as words: "agrees_with_reference" becomes "agrees with reference".
std::string words_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// "3 ranks, 1 element, int32, op sum, input coded".
std::string case_in_words(const Case& c) {
  std::string text = counted(c.ranks, "rank", "ranks");
  if (c.count > 0) text += fmt::format(", count {}", c.count);
  text += fmt::format(", type {}", spec::name(c.type));
  const nlohmann::ordered_json fields = to_json(c);
  for (const auto& [field, value] : fields.items()) {
    const bool is_said = field == "operation" || field == "property" || field == "backend" ||
                         field == "algorithm" || field == "ranks" || field == "count" ||
                         field == "type";
    if (is_said) continue;
    const std::string said = value.is_string() ? value.get<std::string>() : value.dump();
    text += fmt::format(", {} {}", words_of(field), shortened(said, 60));
  }
  return text;
}

void write_wrong(Html& html, const Finding& finding) {
  const auto& wrong = finding.wrong;
  const spec::Type type = finding.minimal ? finding.minimal->type : spec::Type::f32;
  const bool has_error = std::any_of(wrong.begin(), wrong.end(), [](const WrongElement& each) {
    return each.error != 0 || each.bound != 0;
  });
  const bool has_cause = std::any_of(
      wrong.begin(), wrong.end(), [](const WrongElement& each) { return !each.decoded.empty(); });
  std::vector<std::string> columns{"rank", "element", "expected", "got"};
  if (has_error) columns.insert(columns.end(), {"error", "bound"});
  if (has_cause) columns.emplace_back("what the value says");
  const std::string caption =
      std::ssize(wrong) < finding.wrong_count
          ? fmt::format(
                "The first {} of {} wrong elements", wrong.size(), grouped(finding.wrong_count))
          : counted(finding.wrong_count, "wrong element", "wrong elements");
  write_table(html, caption, [&] {
    write_head(html, columns);
    const Html::Element body = html.open("tbody");
    for (const WrongElement& each : wrong) {
      const Html::Element row = html.open("tr");
      html.leaf("td", std::to_string(each.rank), {{"class", "number"}});
      html.leaf("td", std::to_string(each.index), {{"class", "number"}});
      html.leaf("td", shortened(as_value(type, each.expected), 160));
      html.leaf("td", shortened(as_value(type, each.got), 160));
      if (has_error) {
        html.leaf("td", fmt::format("{:.3g}", each.error), {{"class", "number"}});
        html.leaf("td", fmt::format("{:.3g}", each.bound), {{"class", "number"}});
      }
      if (has_cause) html.leaf("td", shortened(in_words(each), 400), {{"class", "said"}});
    }
  });
}

/// How the minimal case was found.
std::string steps_of(const Finding& finding) {
  std::string text = finding.shrinks > 0
                         ? fmt::format("The first failing case was made smaller in {}.",
                                       counted(finding.shrinks, "step", "steps"))
                         : std::string("The first failing case could not be made smaller.");
  if (finding.replays > 0) {
    text += fmt::format(" It was then run again {}, and failed {}.",
                        counted(finding.replays, "time", "times"),
                        finding.replays == finding.replays_failed
                            ? std::string("each time")
                            : counted(finding.replays_failed, "time", "times"));
  }
  return text;
}

void write_finding(Html& html, const Finding& finding) {
  const Unit& unit = finding.unit;
  if (!finding.reason.empty()) {
    const Html::Element line = html.open("p");
    html.leaf("strong", "What the check says: ");
    html.text(shortened(finding.reason, 1000));
  }
  {
    const Html::Element line = html.open("p");
    html.leaf("strong", "What was checked: ");
    html.text(fmt::format("that {} {}", unit.operation, words_of(unit.property)));
    html.text(
        fmt::format(" (property {}{}){}.",
                    unit.property,
                    unit.pinned.empty() ? "" : ", pinned case " + unit.pinned,
                    finding.cases > 0 ? ", in " + counted(finding.cases, "case", "cases") : ""));
  }
  if (!finding.minimal) return;
  html.leaf("p", "Run it again with:", {{"class", "label"}});
  write_command(html, replay_of(finding));
  html.leaf("p", "The smallest case that fails: " + case_in_words(*finding.minimal) + ".");
  draw_elements(html, finding);
  draw_values(html, finding);
  if (!finding.wrong.empty()) write_wrong(html, finding);
  html.leaf("p", steps_of(finding), {{"class", "faint"}});
}

void write_missing(Html& html, const Finding& finding) {
  // A unit that failed ended early, so what it did not cover says nothing.
  if (finding.missing_cells.empty() || finding.minimal) return;
  html.leaf("p", "Never covered: " + first_of(finding.missing_cells, listed_cells_max) + ".");
}

/// The other findings of a group, each with its own case.
void write_others(Html& html, const FailureGroup& group) {
  const auto& all = group.findings;
  if (all.size() < 2) return;
  const Html::Element more = html.open("details");
  html.leaf(
      "summary",
      counted(
          std::ssize(all) - 1, "more finding with this cause", "more findings with this cause"));
  const std::size_t listed = std::min(all.size(), listed_findings_max + 1);
  for (std::size_t i = 1; i < listed; ++i) {
    html.leaf("p", fmt::format("{}: {}", all[i]->unit.id(), shortened(all[i]->reason, 200)));
    if (all[i]->minimal) write_command(html, replay_of(*all[i]));
  }
  if (listed < all.size()) {
    html.leaf("p",
              fmt::format(
                  "and {}, which report.json lists.",
                  counted(std::ssize(all) - static_cast<std::int64_t>(listed), "other", "others")));
  }
}

void write_card(Html& html, const FailureGroup& group, std::size_t number) {
  const Finding& first = *group.findings.front();
  const Look look = look_of(first.verdict);
  Attributes attributes{{"class", "card is-" + look.css}};
  if (number <= open_cards_max) attributes.emplace_back("open", "");
  const Html::Element card = html.open("details", attributes);
  {
    const Html::Element summary = html.open("summary", {{"id", fmt::format("failure-{}", number)}});
    html.leaf("span", look.text, {{"class", "badge " + look.css}});
    html.text(" ");
    html.leaf("h3", line_of(first));
    if (group.findings.size() > 1) {
      html.leaf("span",
                fmt::format(" ({} findings)", grouped(std::ssize(group.findings))),
                {{"class", "faint"}});
    }
  }
  const Html::Element body = html.open("div");
  for (const WrongElement& each : first.wrong) {
    if (cause_of(each) == Cause::unknown) continue;
    const Html::Element line = html.open("p");
    html.leaf("strong", "Cause: ");
    html.text(fmt::format(
        "{} This is what element {} of rank {} shows.", in_words(each), each.index, each.rank));
    break;
  }
  write_finding(html, first);
  write_missing(html, first);
  write_others(html, group);
}

/// Counts the findings of the groups that have no card.
void write_rest(Html& html, const std::vector<FailureGroup>& groups) {
  if (groups.size() <= cards_max) return;
  std::map<std::tuple<std::string, std::string, Verdict>, std::int64_t> counts;
  for (std::size_t i = cards_max; i < groups.size(); ++i) {
    for (const Finding* each : groups[i].findings) {
      ++counts[{each->unit.operation, each->unit.tested(), each->verdict}];
    }
  }
  const std::string caption =
      fmt::format("{} more groups of failures, which report.json lists",
                  grouped(std::ssize(groups) - static_cast<std::int64_t>(cards_max)));
  constexpr std::size_t rows_max = 200;
  write_table(html, caption, [&] {
    write_head(html, {"operation", "backend", "verdict", "findings"});
    const Html::Element body = html.open("tbody");
    std::size_t rows = 0;
    for (const auto& [key, count] : counts) {
      if (++rows > rows_max) break;
      const Html::Element row = html.open("tr");
      html.leaf("th", std::get<0>(key), {{"scope", "row"}});
      html.leaf("td", std::get<1>(key));
      html.leaf("td", name(std::get<2>(key)));
      html.leaf("td", grouped(count), {{"class", "number"}});
    }
  });
  if (counts.size() > rows_max) {
    html.leaf("p", fmt::format("and {} more rows", counts.size() - rows_max));
  }
}

}  // namespace

void write_failures(Html& html, const Report& report) {
  const std::vector<FailureGroup> groups = group_failures(report.findings);
  if (groups.empty()) return;
  const Html::Element section = html.open("section", {{"aria-labelledby", "failures"}});
  html.leaf("h2", "Failures", {{"id", "failures"}});
  html.leaf("p",
            "Each card is one cause: failures of one algorithm on one backend that look alike. The "
            "command runs the smallest failing case again.",
            {{"class", "faint"}});
  for (std::size_t i = 0; i < std::min(groups.size(), cards_max); ++i) {
    write_card(html, groups[i], i + 1);
  }
  write_rest(html, groups);
}

}  // namespace rankcheck::harness::page
