#include "harness/page/cards.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/table.hpp"
#include "harness/check/case_change.hpp"
#include "harness/page/pictures.hpp"
#include "harness/page/sections.hpp"
#include "harness/page/style.hpp"
#include "harness/page/values.hpp"

namespace rankcheck::harness::page {

namespace {

constexpr std::size_t listed_findings_max = 20;
constexpr std::size_t listed_cells_max = 40;

/// The command that runs the smallest case of a failure again. There must be one.
std::string replay_of(const Finding& finding) {
  return "rankcheck replay " + shell_quoted(to_text(*finding.minimal));
}

/// Writes the command that runs the case of a failure again.
void write_replay(Html& html, const Finding& finding, std::size_t bytes_max) {
  const std::string command = replay_of(finding);
  if (command.size() <= bytes_max) return write_command(html, command);
  html.leaf("p",
            fmt::format("The case has {} bytes, too many for this page: report.json has it, as "
                        "\"minimal\" of this unit.",
                        grouped(std::ssize(command))));
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
  const bool has_cause = std::any_of(wrong.begin(), wrong.end(), [&](const WrongElement& each) {
    return !in_words(finding, each).empty();
  });
  const bool has_later_call = std::any_of(
      wrong.begin(), wrong.end(), [](const WrongElement& each) { return each.stage > 0; });
  std::vector<std::string> columns{"rank", "element", "expected", "got"};
  if (has_later_call) columns.insert(columns.begin(), {"call", "ranks of the call"});
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
      if (has_later_call) {
        html.leaf("td", std::to_string(each.stage + 1), {{"class", "number"}});
        html.leaf("td",
                  each.stage == 0 ? "as in the case"
                                  : shortened(fmt::format("{}", fmt::join(each.group, ", ")), 80));
      }
      html.leaf("td", std::to_string(each.rank), {{"class", "number"}});
      html.leaf("td", std::to_string(each.index), {{"class", "number"}});
      html.leaf("td", shortened(as_value(type, each.expected), 160));
      html.leaf("td", shortened(as_value(type, each.got), 160));
      if (has_error) {
        html.leaf("td", fmt::format("{:.3g}", each.error), {{"class", "number"}});
        html.leaf("td", fmt::format("{:.3g}", each.bound), {{"class", "number"}});
      }
      if (has_cause) html.leaf("td", shortened(in_words(finding, each), 400), {{"class", "said"}});
    }
  });
}

/// How the minimal case was found.
std::string steps_of(const Finding& finding) {
  if (finding.is_known) {
    return fmt::format(
        "This is the simplest of the cases that failed as known: {}. It was neither made simpler "
        "nor run again.",
        known_text(finding));
  }
  if (finding.replays == 0 && finding.shrinks == 0) {
    return "This is the case that failed. It was neither made simpler nor run again.";
  }
  std::string text = finding.shrinks > 0
                         ? fmt::format("The first failing case was made simpler in {}.",
                                       counted(finding.shrinks, "step", "steps"))
                         : std::string("The first failing case could not be made simpler.");
  if (finding.replays > 0) {
    text += fmt::format(" It was then run again {}, and failed {}.",
                        counted(finding.replays, "time", "times"),
                        finding.replays == finding.replays_failed
                            ? std::string("each time")
                            : counted(finding.replays_failed, "time", "times"));
  }
  return text;
}

/// What differs between the case that failed first and the smallest one, and the steps between
/// them.
void write_shrinking(Html& html, const Finding& finding) {
  if (!finding.original || !finding.minimal) return;
  write_table(html, "The case that failed first, beside the smallest one", [&] {
    write_head(html, {"field", "failed first", "smallest"});
    const Html::Element body = html.open("tbody");
    for (const FieldChange& each : changes_between(*finding.original, *finding.minimal)) {
      const Html::Element row = html.open("tr");
      html.leaf("th", each.field, {{"scope", "row"}});
      html.leaf("td", each.before);
      html.leaf("td", each.after);
    }
  });
  if (finding.steps.empty()) return;
  const Html::Element more = html.open("details");
  html.leaf("summary", "Each step from the first case to the smallest");
  {
    const Html::Element list = html.open("ol");
    const std::size_t listed = std::min(finding.steps.size(), steps_max);
    for (std::size_t i = 0; i < listed; ++i) {
      html.leaf("li", shortened(finding.steps[i], step_bytes_max));
    }
  }
  const auto left = finding.shrinks - std::ssize(finding.steps);
  if (left > 0) html.leaf("p", fmt::format("and {}.", counted(left, "more step", "more steps")));
}

/// " It failed in case 3."
std::string said_of_cases(const Finding& finding) {
  if (finding.cases <= 0) return {};
  // A search ends at its first failure, unless the failure is known.
  if (is_failure(finding.verdict) && !finding.is_known && finding.minimal) {
    return finding.cases == 1 ? " The first case failed."
                              : fmt::format(" {} passed, and the next one failed.",
                                            counted(finding.cases - 1, "case", "cases"));
  }
  return fmt::format(" {} ran.", counted(finding.cases, "case", "cases"));
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
    html.text(unit.property == "*"
                  ? fmt::format("all properties of {}", unit.operation)
                  : fmt::format("that {} {}", unit.operation, words_of(unit.property)));
    html.text(fmt::format(" (property {}{}).{}",
                          unit.property,
                          unit.pinned.empty() ? "" : ", pinned case " + unit.pinned,
                          said_of_cases(finding)));
  }
  if (!finding.minimal) return;
  html.leaf("p", "Run it again with:", {{"class", "label"}});
  write_replay(html, finding, command_bytes_max);
  html.leaf("p", "The smallest case that fails: " + case_in_words(*finding.minimal) + ".");
  draw_elements(html, finding);
  draw_values(html, finding);
  if (!finding.wrong.empty()) write_wrong(html, finding);
  html.leaf("p", steps_of(finding), {{"class", "faint"}});
  write_shrinking(html, finding);
}

void write_missing(Html& html, const Finding& finding) {
  // A unit that failed ended early, so what it did not cover says nothing.
  if (finding.missing_cells.empty() || finding.minimal) return;
  html.leaf("p", "Never covered: " + first_of(finding.missing_cells, listed_cells_max) + ".");
}

/// The other findings of a group, each with its own case.
void write_others(Html& html, const FailureGroup& group, const CardOptions& options) {
  const auto& all = group.findings;
  if (all.size() < 2) return;
  const Html::Element more = html.open("details");
  html.leaf("summary",
            counted(std::ssize(all) - 1,
                    "more unit, probably with this cause",
                    "more units, probably with this cause"));
  const std::size_t listed = std::min(all.size(), listed_findings_max + 1);
  for (std::size_t i = 1; i < listed; ++i) {
    html.leaf("p", fmt::format("{}: {}", all[i]->unit.id(), shortened(all[i]->reason, 200)));
    if (all[i]->minimal) write_replay(html, *all[i], further_command_bytes_max);
  }
  if (listed < all.size()) {
    html.leaf(
        "p",
        fmt::format("and {}, which {} lists.",
                    counted(std::ssize(all) - static_cast<std::int64_t>(listed), "other", "others"),
                    options.whole_list));
  }
}

void write_card(Html& html,
                const FailureGroup& group,
                std::size_t number,
                const CardOptions& options) {
  const Finding& first = *group.findings.front();
  const Look look = look_of(first);
  Attributes attributes{{"class", "card is-" + look.css}};
  if (number <= options.open_max) attributes.emplace_back("open", "");
  const Html::Element card = html.open("details", attributes);
  {
    const Html::Element summary =
        html.open("summary", {{"id", fmt::format("{}-{}", options.id, number)}});
    html.leaf("span", look.text, {{"class", "badge " + look.css}});
    html.text(" ");
    html.leaf("h3", line_of(group));
    if (const std::string extent = extent_of(group); !extent.empty()) {
      html.leaf("span", fmt::format(" ({})", extent), {{"class", "faint"}});
    }
  }
  const Html::Element body = html.open("div");
  html.leaf("p", meaning_of(first.verdict), {{"class", "faint"}});
  for (const WrongElement& each : first.wrong) {
    if (cause_of(first, each) == Cause::unknown) continue;
    const Html::Element line = html.open("p");
    html.leaf("strong", "Cause: ");
    html.text(fmt::format("{} This is what element {} of rank {} shows.",
                          in_words(first, each),
                          each.index,
                          each.rank));
    break;
  }
  if (!group.cell.empty() && group.findings.size() > 1) {
    // A case that no step made simpler shows only where it failed.
    const bool is_made_simpler = std::any_of(group.findings.begin(),
                                             group.findings.end(),
                                             [](const Finding* each) { return each->shrinks > 0; });
    const char* const why =
        is_made_simpler ? " Cases were made simpler for as long as they failed, and this remained."
                        : "";
    html.leaf("p", fmt::format("All of these failures are of {}.{}", group.cell, why));
  }
  if (const std::string more = options.say_more ? options.say_more(first) : ""; !more.empty()) {
    html.leaf("p", shortened(more, 400));
  }
  write_finding(html, first);
  write_missing(html, first);
  write_others(html, group, options);
}

/// Counts the findings of the groups that have no card.
void write_rest(Html& html,
                const std::vector<FailureGroup>& groups,
                std::size_t written,
                const CardOptions& options) {
  if (groups.size() <= written) return;
  std::map<std::tuple<std::string, std::string, Verdict>, std::int64_t> counts;
  for (std::size_t i = written; i < groups.size(); ++i) {
    for (const Finding* each : groups[i].findings) {
      ++counts[{each->unit.operation, each->unit.tested(), each->verdict}];
    }
  }
  const std::string caption =
      fmt::format("{}, which {} lists",
                  counted(std::ssize(groups) - static_cast<std::int64_t>(written),
                          "more cause of failures",
                          "more causes of failures"),
                  options.whole_list);
  write_table(html, caption, [&] {
    write_head(html, {"operation", "backend", "verdict", "units"});
    const Html::Element body = html.open("tbody");
    std::size_t rows = 0;
    for (const auto& [key, count] : counts) {
      if (++rows > rows_max) break;
      const Html::Element row = html.open("tr");
      html.leaf("th", shortened(std::get<0>(key), name_bytes_max), {{"scope", "row"}});
      html.leaf("td", shortened(std::get<1>(key), name_bytes_max));
      html.leaf("td", name(std::get<2>(key)));
      html.leaf("td", grouped(count), {{"class", "number"}});
    }
  });
  if (counts.size() > rows_max) {
    html.leaf("p", fmt::format("and {} more rows", counts.size() - rows_max));
  }
}

}  // namespace

void write_short_replay(Html& html, const Finding& finding) {
  constexpr std::size_t bytes_max = 400;
  if (!finding.minimal) return;
  const std::string command = replay_of(finding);
  if (command.size() <= bytes_max) write_command(html, command);
}

std::size_t write_cards(Html& html,
                        const std::vector<FailureGroup>& groups,
                        const CardOptions& options) {
  const std::size_t most = std::min(groups.size(), options.most);
  std::size_t written = 0;
  while (written < most && html.size() < cards_bytes_max) {
    write_card(html, groups[written], written + 1, options);
    ++written;
  }
  write_rest(html, groups, written, options);
  return written;
}

}  // namespace rankcheck::harness::page
