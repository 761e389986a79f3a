#include "harness/compare/comparison_text.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/table.hpp"
#include "harness/report/report.hpp"
#include "harness/report/text_style.hpp"

namespace rankcheck::harness::compare {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t listed_max = 20;
/// The most versions at the top of a page, and the most commands of a section: a summary of a step
/// is the beginning of the page, and 60 lines have to say what broke and what is new.
constexpr std::size_t top_versions_max = 5;
constexpr std::size_t commands_max = 5;
/// A reason is one line. This is about as much of it as helps to recognise it.
constexpr std::size_t said_bytes_max = 160;

std::string in_environment(const RunReport& run, const char* field) {
  const auto found = run.environment.find(field);
  return found != run.environment.end() && found->is_string() ? found->get<std::string>() : "?";
}

std::string described(const RunReport& run) {
  std::string text =
      fmt::format("{}: {} of {}, rankcheck {}",
                  printable(run.name),
                  counted(static_cast<std::int64_t>(run.findings.size()), "unit", "units"),
                  printable(in_environment(run, "started")),
                  printable(in_environment(run, "rankcheck")));
  const auto seconds = run.environment.find("duration_s");
  if (seconds != run.environment.end() && seconds->is_number()) {
    text += fmt::format(", {:.1f} s", seconds->get<double>());
  }
  if (run.ending != "completed") text += ", ended early (" + printable(run.ending) + ")";
  return text;
}

/// How much was judged in both runs, and all changes: "4 units were judged in both runs: 1 unit is
/// newly broken".
std::string changes_of(const Comparison& comparison) {
  std::string text =
      counted(comparison.common_units, "unit was judged", "units were judged") + " in both runs";
  bool has_any = false;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto kind = static_cast<Kind>(i);
    if (comparison.count(kind) == 0) continue;
    text += (has_any ? ", " : ": ") + counted_changes(comparison, kind);
    has_any = true;
  }
  return text;
}

/// What was compared of speeds. Empty if a run has no measurements.
std::string speeds_of(const Comparison& comparison) {
  const std::int64_t unknown = comparison.unknown_speeds;
  const std::int64_t others = comparison.links_of_other_sizes;
  if (comparison.compared_speeds + unknown + others == 0) return {};
  std::string text =
      "speed: " +
      counted(comparison.compared_speeds, "measurement was compared", "measurements were compared");
  if (unknown > 0) {
    text += ", " + counted(unknown, "was", "were") +
            " not, because the noise is unknown: see bench --repetitions";
  }
  if (others > 0) {
    text += ", " + counted(others, "link was", "links were") +
            " not, because the gates copied blocks of other sizes";
  }
  return text;
}

/// The environment of a run without the gate's part, which is compared as units.
ordered_json versions_of(const RunReport& run) {
  ordered_json versions = run.environment;
  versions.erase("hardware");
  return versions;
}

/// How it was before. A failure of a unit that is new says so.
std::string before_of(const Change& change) {
  const bool is_new = change.before.empty() && change.kind == Kind::newly_broken;
  return is_new ? "not in the earlier run" : shortened(change.before, said_bytes_max);
}

/// "before -> now", or the only one of them that there is.
std::string step_of(const Change& change) {
  std::string before = before_of(change);
  // What was wrong says little of a unit that passes now.
  if (change.kind == Kind::mended) before = before.substr(0, before.find(": "));
  const std::string now = shortened(change.now, said_bytes_max);
  if (change.is_as_before()) return now + ", as before";
  if (now.empty()) return before + " -> nothing";
  if (before.empty()) {
    const bool has_sides = change.kind == Kind::options || change.kind == Kind::version;
    return has_sides ? "nothing -> " + now : now;
  }
  return before + " -> " + now;
}

/// Which known defects explain a failure.
std::string known_words(const Change& change) {
  std::string text = "known " + first_of(change.known, change.known.size());
  if (change.may_hide_others) {
    text += ", where the unit ended: run with --known, so that it hides nothing else";
  }
  return text;
}

/// Breaks a text that stands under the name of what changed.
std::string folded(const std::string& text) {
  constexpr std::size_t indent = 4;
  return wrapped(text, text_columns_max - indent, indent + 2);
}

/// Calls take(change) with the first changes of a kind. Returns the number of the others.
template <class Take>
std::int64_t each_listed(const Comparison& comparison, Kind kind, const Take& take) {
  std::size_t seen = 0;
  for (const Change& change : comparison.changes) {
    if (change.kind == kind && seen++ < listed_max) take(change);
  }
  return seen > listed_max ? static_cast<std::int64_t>(seen - listed_max) : 0;
}

/// Calls take(word, run) for each run, with a number or what the comparison calls it.
template <class Take>
void each_run(const ComparedRuns& runs, const Take& take) {
  const std::vector<const RunReport*>& all = runs.trend.runs;
  for (std::size_t i = 0; i + 2 < all.size(); ++i) take(std::to_string(i + 1), *all[i]);
  take("before", runs.before);
  take("now", runs.now);
}

github::Annotation annotation_of(const Change& change) {
  github::Annotation annotation{
      .title = fmt::format(
          "rankcheck: {}: {}", change.kind == Kind::flaky ? "flaky" : "newly broken", change.what),
      .message = fmt::format("{} -> {}", printable(change.before), printable(change.now))};
  if (change.before.empty()) annotation.message = printable(change.now);
  if (!change.minimal.is_null()) {
    annotation.message += '\n' + replay_line(change.minimal.dump());
  }
  return annotation;
}

ordered_json to_json(const RunReport& run) {
  return {{"name", run.name},
          {"ending", run.ending},
          {"units", run.findings.size()},
          {"run", run.run},
          {"started", in_environment(run, "started")},
          {"rankcheck", in_environment(run, "rankcheck")},
          {"environment", versions_of(run)}};
}

}  // namespace

bool is_worse(const ComparedRuns& runs) {
  const bool is_stale = runs.is_strict && !stale_text(runs.known).empty();
  return is_stale || is_worse(runs.comparison, runs.matters);
}

std::string verdict_of(const ComparedRuns& runs) {
  const std::vector<Change>& changes = runs.comparison.changes;
  const std::string worse = counted_changes(
      runs.comparison, [&](const Change& each) { return is_worse(each, runs.matters); });
  if (!worse.empty()) return "Worse: " + worse + '.';
  if (is_worse(runs)) return "Worse: " + stale_text(runs.known) + '.';
  const std::string common = counted(runs.comparison.common_units, "unit", "units");
  if (runs.comparison.is_empty()) {
    return fmt::format("Not worse: nothing changed in the {} that both runs judged.", common);
  }
  if (const std::string beside = worse_beside(runs.comparison, runs.matters); !beside.empty()) {
    return fmt::format(
        "Not worse in what matters here ({}), but: {}.", names_of(runs.matters), beside);
  }
  const auto known = std::count_if(changes.begin(), changes.end(), [](const Change& each) {
    return each.kind == Kind::newly_broken && !each.is_worse;
  });
  if (known > 0) {
    return fmt::format("Not worse, but for {} only as known.",
                       counted(known, "unit that fails now", "units that fail now"));
  }
  if (runs.comparison.common_units == 1) {
    return "Not worse: the only unit that both runs judged did not get worse.";
  }
  return fmt::format("Not worse: none of the {} that both runs judged got worse.", common);
}

std::string to_text(const ComparedRuns& runs, const std::string& program, TextStyle style) {
  const std::string verdict = wrapped(verdict_of(runs), text_columns_max, 2);
  std::string text =
      style.paint(is_worse(runs) ? Verdict::falsified : Verdict::passed, verdict) + "\n\n";
  each_run(runs, [&](const std::string& word, const RunReport& run) {
    text += fmt::format("{:<8}{}\n", word, wrapped(described(run), text_columns_max - 8, 8));
  });
  for (const std::string& each : {speeds_of(runs.comparison), changes_of(runs.comparison)}) {
    if (!each.empty()) text += wrapped(each, text_columns_max, 2) + '\n';
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto kind = static_cast<Kind>(i);
    if (runs.comparison.count(kind) == 0) continue;
    text += fmt::format("\n{}\n", info(kind).title);
    const std::int64_t more = each_listed(runs.comparison, kind, [&](const Change& change) {
      const std::string line = fmt::format("  {}  {}\n", printable(change.what), step_of(change));
      text += line.size() <= text_columns_max
                  ? line
                  : fmt::format("  {}\n    {}\n", printable(change.what), folded(step_of(change)));
      if (!change.known.empty()) text += "    " + folded(known_words(change)) + '\n';
      if (!change.minimal.is_null()) {
        text += "    " + replay_line(change.minimal.dump(), program) + '\n';
      }
    });
    if (more > 0) text += fmt::format("  and {} more, see --format json\n", grouped(more));
  }
  if (!runs.known.empty()) text += "\nknown defects\n";
  for (const KnownStatus& each : runs.known) {
    text += "  " + wrapped(known_line(each), text_columns_max - 2, 4) + '\n';
  }
  if (runs.trend.runs.size() > 2) text += '\n' + to_text(runs.trend);
  return text;
}

std::string to_markdown(const ComparedRuns& runs) {
  std::string text = fmt::format("# rankcheck compare\n\n**{}**\n\n", verdict_of(runs));
  each_run(runs, [&](const std::string& word, const RunReport& run) {
    text += fmt::format("- {}: {}\n", word, described(run));
  });
  for (const std::string& each : {speeds_of(runs.comparison), changes_of(runs.comparison)}) {
    if (!each.empty()) text += "- " + each + '\n';
  }
  std::size_t versions = 0;
  for (const Change& change : runs.comparison.changes) {
    if (change.kind != Kind::version || versions++ >= top_versions_max) continue;
    text += fmt::format("- {}: {}\n", printable(change.what), step_of(change));
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto kind = static_cast<Kind>(i);
    if (runs.comparison.count(kind) == 0) continue;
    Table table({{"what"}, {"before"}, {"now"}});
    std::string cases;
    std::set<std::string> commands;
    const std::int64_t more = each_listed(runs.comparison, kind, [&](const Change& change) {
      const std::string known = change.known.empty() ? "" : "; " + known_words(change);
      table.add({printable(change.what),
                 before_of(change),
                 shortened(change.now, said_bytes_max) + known});
      if (change.minimal.is_null()) return;
      const std::string command = replay_line(change.minimal.dump());
      if (commands.size() >= commands_max || !commands.insert(command).second) return;
      cases += fmt::format("    # {}\n    {}\n", printable(change.what), command);
    });
    text += fmt::format("\n## {}\n\n{}", info(kind).title, table.markdown());
    if (more > 0) text += fmt::format("\nand {} more\n", grouped(more));
    if (!cases.empty()) text += '\n' + cases;
  }
  if (!runs.known.empty()) text += "\n## known defects\n\n";
  for (const KnownStatus& each : runs.known) text += "- " + known_line(each) + '\n';
  if (runs.trend.runs.size() > 2) text += '\n' + to_markdown(runs.trend);
  return text;
}

std::vector<github::Annotation> annotations_of(const Comparison& comparison,
                                               const std::string& verdict) {
  std::vector<github::Annotation> all;
  for (const Change& change : comparison.changes) {
    const bool is_failure = change.kind == Kind::newly_broken || change.kind == Kind::flaky;
    // A failure that is known is listed, but makes nothing worse.
    if (is_failure && change.is_worse) all.push_back(annotation_of(change));
  }
  if (all.empty()) all.push_back({.title = "rankcheck compare", .message = printable(verdict)});
  return all;
}

ordered_json to_json(const ComparedRuns& runs) {
  ordered_json counts = ordered_json::object();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    counts[std::string(kinds[i].name)] = runs.comparison.count(static_cast<Kind>(i));
  }
  ordered_json matters = ordered_json::array();
  for (const FailOn each : runs.matters) matters.push_back(fail_on_names[spec::to_size(each)]);
  ordered_json changes = ordered_json::array();
  for (const Change& change : runs.comparison.changes) {
    ordered_json entry{
        {"kind", name(change.kind)}, {"what", change.what}, {"worse", change.is_worse}};
    if (!change.before.empty()) entry["before"] = change.before;
    if (!change.now.empty()) entry["now"] = change.now;
    if (!change.known.empty()) entry["known"] = change.known;
    if (change.may_hide_others) entry["may_hide_others"] = true;
    if (!change.minimal.is_null()) entry["minimal"] = change.minimal;
    changes.push_back(std::move(entry));
  }
  ordered_json all = ordered_json::array();
  for (const RunReport* each : runs.trend.runs) all.push_back(to_json(*each));
  ordered_json known = ordered_json::array();
  for (const KnownStatus& each : runs.known) known.push_back(harness::to_json(each));
  return {{"comparison_version", comparison_version},
          {"worse", is_worse(runs)},
          {"fail_on", std::move(matters)},
          {"before", to_json(runs.before)},
          {"now", to_json(runs.now)},
          {"common_units", runs.comparison.common_units},
          {"compared_speeds", runs.comparison.compared_speeds},
          {"unknown_speeds", runs.comparison.unknown_speeds},
          {"links_of_other_sizes", runs.comparison.links_of_other_sizes},
          {"counts", std::move(counts)},
          {"changes", std::move(changes)},
          {"known", std::move(known)},
          {"runs", std::move(all)},
          {"trend", to_json(runs.trend)}};
}

}  // namespace rankcheck::harness::compare
