#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/table.hpp"
#include "harness/page/cards.hpp"
#include "harness/page/sections.hpp"
#include "harness/search/runner.hpp"

namespace rankcheck::harness::page {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t listed_max = 12;

/// A field of an object as text; empty if there is none.
std::string text_in(const ordered_json& object, const char* field) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

struct Names {
  std::set<std::string> operations;
  std::set<std::string> algorithms;
  std::set<std::string> backends;
  int ranks_max = 0;
};

/// The names of what was judged.
Names judged_names(const Report& report) {
  Names names;
  for (const Finding& each : report.findings) {
    if (each.verdict == Verdict::skipped || each.verdict == Verdict::errored) continue;
    names.operations.insert(each.unit.operation);
    names.algorithms.insert(each.unit.operation + '/' + each.unit.algorithm);
    names.backends.insert(each.unit.tested());
    names.ranks_max = std::max(names.ranks_max, each.ranks_max);
    if (each.minimal) names.ranks_max = std::max(names.ranks_max, each.minimal->ranks);
  }
  return names;
}

std::string list_of(const std::set<std::string>& names, std::size_t most = listed_max) {
  return names.empty() ? "none"
                       : first_of(std::vector<std::string>(names.begin(), names.end()), most);
}

std::int64_t count_red(const Tally& total) {
  std::int64_t red = 0;
  for (std::size_t i = 0; i < total.verdicts.size(); ++i) red += total.red(static_cast<Verdict>(i));
  return red;
}

/// The verdict in a sentence.
std::string verdict_of(const Report& report, const Tally& total) {
  const std::int64_t checked =
      total.findings - total.count(Verdict::skipped) - total.count(Verdict::errored);
  const std::int64_t red = count_red(total);
  const std::int64_t known = total.known_findings();
  if (exit_status(report) == 0 && known > 0) {
    return fmt::format("Passed: of {}, {} and {}.",
                       counted(checked, "unit that was checked", "units that were checked"),
                       counted(checked - known, "passed", "passed"),
                       counted(known, "failed only as known", "failed only as known"));
  }
  if (exit_status(report) == 0) {
    return checked == 1 ? "Passed: the only unit that was checked passed."
                        : fmt::format("Passed: all {} units that could be checked here passed.",
                                      grouped(checked));
  }
  if (red > 0) {
    const std::string failed = fmt::format(
        "{} of {} that were checked failed", grouped(red), counted(checked, "unit", "units"));
    if (report.not_run == 0) return fmt::format("Failed: {}.", failed);
    return fmt::format("Failed, and not finished: {}, and {}.",
                       failed,
                       counted(report.not_run, "unit was not run", "units were not run"));
  }
  if (exit_status(report) == 1) {
    return fmt::format("Failed: all units passed, but a requirement of this run was not met ({}).",
                       counted(checked, "unit was checked", "units were checked"));
  }
  if (checked == 0) return "Nothing was checked.";
  return fmt::format("Not whole: nothing failed in {}, but not everything could be checked.",
                     counted(checked, "unit", "units"));
}

/// Says what a unit is, and how the cards below belong to the units that did not pass.
std::string how_counts_belong_together(const Report& report,
                                       const std::vector<FailureGroup>& groups) {
  std::string unit =
      "A unit is one property of one algorithm of one operation on one backend, which many cases "
      "check.";
  std::int64_t red = 0;
  std::int64_t errored = 0;
  for (const Finding& each : report.findings) {
    red += is_red(each) ? 1 : 0;
    errored += each.verdict == Verdict::errored ? 1 : 0;
  }
  if (red + errored == 0) return unit;
  const char* const what = errored == 0 ? "failed"
                           : red == 0   ? "could not be checked"
                                        : "failed or could not be checked";
  if (red + errored == 1) return unit + fmt::format(" The unit that {} has a card below.", what);
  return unit + fmt::format(" The {} units that {} seem to have {} below.",
                            grouped(red + errored),
                            what,
                            counted(std::ssize(groups),
                                    "cause, which has a card",
                                    "causes, each of which has a card"));
}

/// An item of a list that leads to the section of the gate.
void write_gate_item(Html& html, const std::string& text) {
  const Html::Element item = html.open("li");
  html.leaf("a", text, {{"href", "#gate"}});
}

/// Names the parts, devices and links of the gate that failed. If no cause is listed above, says
/// why the first ones failed.
void write_failed_parts(Html& html, const std::vector<GateItem>& failed_parts, bool has_causes) {
  const std::size_t told = has_causes ? 0 : std::min<std::size_t>(failed_parts.size(), 5);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < failed_parts.size(); ++i) {
    const GateItem& each = failed_parts[i];
    names.push_back(each.what);
    if (i >= told) continue;
    write_gate_item(
        html, fmt::format("The gate's {} is {}: {}", each.what, name(each.verdict), each.reason));
  }
  if (told == names.size()) return;
  write_gate_item(html,
                  fmt::format("In the gate, these did not pass: {}.", first_of(names, listed_max)));
}

/// Lists the first failure of each algorithm on each backend in each unusual cell.
void write_first_failures(Html& html,
                          const std::vector<FailureGroup>& groups,
                          const std::vector<GateItem>& failed_parts) {
  if (groups.empty() && failed_parts.empty()) return;
  constexpr std::size_t named_max = 5;
  std::set<std::string> named;
  const Html::Element list = html.open("ul");
  for (std::size_t i = 0; i < groups.size() && named.size() < named_max; ++i) {
    const Unit& unit = groups[i].findings.front()->unit;
    const std::string key =
        unit.operation + '/' + unit.algorithm + '/' + unit.tested() + '/' + groups[i].cell;
    if (!named.insert(key).second) continue;
    const Html::Element item = html.open("li");
    html.leaf("a",
              line_of(groups[i]),
              {{"href", fmt::format("#failure-{}", std::min(i + 1, cards_max))}});
    if (const std::string extent = extent_of(groups[i]); !extent.empty()) {
      html.leaf("span", fmt::format(" ({})", extent), {{"class", "faint"}});
    }
    if (i == 0) write_short_replay(html, *groups[i].findings.front());
  }
  write_failed_parts(html, failed_parts, !groups.empty());
  const auto more = std::ssize(groups) - std::ssize(named);
  if (more <= 0) return;
  const Html::Element item = html.open("li");
  html.leaf("a",
            fmt::format("and {}", counted(more, "more cause", "more causes")),
            {{"href", "#failures"}});
}

void fact(Html& html, const char* name, const std::string& value) {
  if (value.empty()) return;
  html.leaf("dt", name);
  html.leaf("dd", value);
}

/// A value as words: "suites smoke, ranks 1, 4". Each text is shortened by itself, so that a long
/// path does not hide the version beside it.
std::string in_words(const ordered_json& value) {
  if (value.is_string()) return shortened(value.get<std::string>(), 120);
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [field, each] : value.items()) {
    const std::string name = value.is_object() ? field + ' ' : "";
    text += (text.empty() ? "" : ", ") + name + in_words(each);
  }
  return text;
}

/// The options of `rankcheck run` for the fields of a report's `run`.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> run_options{
    {{"operation", "--operation"},
     {"algorithm", "--algorithm"},
     {"property", "--property"},
     {"backends", "--backend"},
     {"ranks", "--ranks"},
     {"hosts", "--hosts"},
     {"types", "--type"},
     {"cases", "--cases"},
     {"require", "--require"},
     {"units", "--unit"},
     {"ranks_required", "--require-ranks"},
     {"seed", "--seed"}}};

/// The option for a field. Empty if the field is no option.
std::string_view option_of(std::string_view field) {
  const auto* const found = std::find_if(run_options.begin(),
                                         run_options.end(),
                                         [&](const auto& each) { return each.first == field; });
  return found == run_options.end() ? std::string_view() : found->second;
}

/// The values of an option. Most options are repeated for each value of a list, because a command
/// line has commas of its own.
std::vector<std::string> values_of_option(std::string_view field, const ordered_json& value) {
  const auto text = [](const ordered_json& each) {
    return each.is_string() ? each.get<std::string>() : each.dump();
  };
  if (!value.is_array()) return {text(value)};
  std::vector<std::string> values;
  for (const ordered_json& each : value) values.push_back(text(each));
  if (field == "ranks") return {fmt::format("{}", fmt::join(values, ".."))};
  if (field == "hosts" || field == "types") return {fmt::format("{}", fmt::join(values, ","))};
  return values;
}

/// " --operation gather --operation scatter".
std::string option_text(std::string_view option, const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& each : values) {
    text += fmt::format("{}{} {}", option.empty() ? "" : " ", option, shell_quoted(each));
  }
  return text;
}

/// "mpi: Open MPI 4.1.4" for each backend: all that the environment says about it.
void write_backends(Html& html, const ordered_json& environment) {
  const auto found = environment.find("backends");
  if (found == environment.end() || !found->is_object()) return;
  for (const auto& [name, what] : found->items()) {
    std::string text;
    if (!what.is_object()) continue;
    for (const auto& [field, value] : what.items()) {
      if (value.is_object() && value.empty()) continue;
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", field, shortened(in_words(value), 800));
    }
    if (text.empty()) continue;
    html.leaf("dt", name);
    html.leaf("dd", text);
  }
}

void write_verified(Html& html, const Report& report, const Tally& total) {
  const Html::Element section = html.open("section", {{"aria-labelledby", "verified"}});
  html.leaf("h2", "What was checked", {{"id", "verified"}});
  const Names names = judged_names(report);
  const ordered_json& here = report.environment;
  const Html::Element list = html.open("dl");
  fact(html,
       "operations",
       fmt::format("{}: {}", names.operations.size(), list_of(names.operations)));
  fact(html, "algorithms", grouped(std::ssize(names.algorithms)));
  fact(html, "backends", list_of(names.backends));
  write_backends(html, here);
  fact(html, "ranks", names.ranks_max > 0 ? fmt::format("up to {}", names.ranks_max) : "");
  fact(html,
       "cases",
       fmt::format(
           "{}, with {} bytes compared", grouped(total.cases), grouped(total.compared_bytes)));
  const std::string error = error_of(total);
  fact(html, "worst error/bound", error == "-" ? error : error + ", of right elements");
  std::string version = text_in(here, "rankcheck");
  if (const std::string commit = text_in(here, "commit"); !commit.empty()) {
    version += fmt::format(" (commit {})", commit.substr(0, 12));
  }
  fact(html, "rankcheck", version);
  std::string host = text_in(here, "host");
  for (const char* each : {"system", "kernel", "processor"}) {
    if (const std::string more = text_in(here, each); !more.empty()) host += ", " + more;
  }
  fact(html, "machine", host);
  std::string time = text_in(here, "started");
  const auto duration = here.find("duration_s");
  if (duration != here.end() && duration->is_number()) {
    time += fmt::format(", took {:.1f} s", duration->get<double>());
  }
  fact(html, "started", time);
  fact(html, "asked for", report.run.is_null() ? "" : shortened(asked_for(report.run), 400));
}

const char* meaning_of(const std::string& reason) {
  if (reason == "backend_unavailable") return "because their backend cannot run here";
  if (reason == "no_device") return "because there are not enough devices";
  if (reason == "no_memory") return "because there is not enough memory";
  if (reason == "data_absent") return "because a data file is missing";
  if (reason == "not_supported") return "because the backend takes none of their cases";
  if (reason == "time_over") return "because the time was over before they had covered enough";
  return "for another reason";
}

/// What could not be verified, as sentences.
std::vector<std::string> unverified(const Report& report, const Tally& total) {
  std::vector<std::string> all;
  if (report.ending != name(Ending::completed)) {
    all.push_back(
        fmt::format("The run ended early ({}): {}.", report.ending, what_was_cut(report)));
  } else if (report.not_run > 0) {
    all.push_back(counted(report.not_run, "unit was not run.", "units were not run."));
  }
  const auto unavailable = report.environment.find("unavailable_backends");
  if (unavailable != report.environment.end() && unavailable->is_object()) {
    for (const auto& [backend, reason] : unavailable->items()) {
      all.push_back(
          fmt::format("Backend {} cannot run here: {}.",
                      backend,
                      shortened(reason.is_string() ? reason.get<std::string>() : "", 300)));
    }
  }
  std::size_t items = 0;
  for (const GateItem& each : gate_items_not_passed(report)) {
    if (is_red(each.verdict) || ++items > listed_max) continue;
    all.push_back(
        fmt::format("The gate's {} is {}: {}.", each.what, name(each.verdict), each.reason));
  }
  if (items > listed_max) {
    all.push_back(
        fmt::format("and {} more of the gate, which report.json lists", items - listed_max));
  }
  for (const auto& [reason, count] : total.skips) {
    all.push_back(fmt::format(
        "{} {}.", counted(count, "unit was skipped", "units were skipped"), meaning_of(reason)));
  }
  for (const std::string& each : refusal_sentences(total, listed_max)) all.push_back(each + ".");
  if (const auto errored = total.count(Verdict::errored); errored > 0) {
    all.push_back(
        fmt::format("{} because of an error outside of the code under test.",
                    counted(errored, "unit could not be checked", "units could not be checked")));
  }
  if (total.refused_cells > 0) {
    all.push_back(fmt::format(
        "{} not offered by the backends. A cell is what cases must cover, such as a type with a "
        "reduction.",
        counted(total.refused_cells,
                "cell was not checked, because it is",
                "cells were not checked, because they are")));
  }
  return all;
}

void write_unverified(Html& html, const Report& report, const Tally& total) {
  const Html::Element section = html.open("section", {{"aria-labelledby", "unverified"}});
  html.leaf("h2", "What could not be checked", {{"id", "unverified"}});
  const std::vector<std::string> all = unverified(report, total);
  if (all.empty()) html.leaf("p", "Nothing that this run asked for was left out.");
  if (!all.empty()) {
    const Html::Element list = html.open("ul");
    for (const std::string& each : all) html.leaf("li", each);
  }
  html.leaf(
      "p",
      "A pass is about these checks and nothing else. It says nothing about other types, sizes, "
      "machines or versions.",
      {{"class", "faint"}});
}

void write_contents(Html& html, const Report& report) {
  const Html::Element nav = html.open("nav", {{"aria-label", "Sections"}});
  const Html::Element list = html.open("ul");
  const auto link = [&](const char* id, const char* title) {
    const Html::Element item = html.open("li");
    html.leaf("a", title, {{"href", std::string("#") + id}});
  };
  const auto& all = report.findings;
  if (std::any_of(all.begin(), all.end(), is_bad)) link("failures", "Failures");
  const auto is_known = [](const Finding& each) { return each.is_known; };
  if (!report.known.empty() || std::any_of(all.begin(), all.end(), is_known)) {
    link("known", "Known defects");
  }
  if (report.environment.contains("hardware")) link("gate", "Devices and links");
  link("matrix", "Operations and backends");
  link("coverage", "Coverage");
  link("charts", "Errors and times");
  link("words", "Words");
}

}  // namespace

Look look_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return {"good", "\u2713 passed"};
    case Verdict::skipped:
      return {"quiet", "\u2013 skipped"};
    case Verdict::vacuous:
    case Verdict::errored:
      return {"doubt", fmt::format("! {}", name(verdict))};
    case Verdict::falsified:
    case Verdict::flaky:
    case Verdict::hung:
    case Verdict::crashed:
      break;
  }
  return {"bad", fmt::format("\u2717 {}", name(verdict))};
}

std::string_view meaning_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::falsified:
      return "Falsified: it failed with a wrong result, and so did every repetition that could be "
             "made.";
    case Verdict::flaky:
      return "Flaky: it failed, but only in some repetitions.";
    case Verdict::hung:
      return "Hung: it failed, because there was no answer in time.";
    case Verdict::crashed:
      return "Crashed: it failed, because the program ended while it was called.";
    case Verdict::vacuous:
      return "Vacuous: the check saw too little to say anything, which counts as failed.";
    case Verdict::errored:
      return "Errored: rankcheck itself or its environment failed, which says nothing about the "
             "code under test.";
    case Verdict::passed:
    case Verdict::skipped:
      break;
  }
  return {};
}

Look look_of(const Finding& finding) {
  if (!finding.is_known) return look_of(finding.verdict);
  return {"doubt", fmt::format("! {} as known", name(finding.verdict))};
}

Look look_of(const Tally& tally) {
  constexpr std::array order{Verdict::falsified,
                             Verdict::crashed,
                             Verdict::hung,
                             Verdict::flaky,
                             Verdict::vacuous,
                             Verdict::errored};
  for (const Verdict each : order) {
    const std::int64_t count = tally.count(each) - tally.known[spec::to_size(each)];
    if (count == 0) continue;
    Look look = look_of(each);
    look.text += fmt::format(", {} of {}", count, tally.findings);
    return look;
  }
  if (const std::int64_t known = tally.known_findings(); known > 0) {
    return {"doubt", fmt::format("! known, {} of {}", known, tally.findings)};
  }
  if (tally.count(Verdict::passed) == 0) return look_of(Verdict::skipped);
  Look look = look_of(Verdict::passed);
  if (tally.count(Verdict::skipped) > 0) {
    look.text += fmt::format(", {} skipped", tally.count(Verdict::skipped));
  }
  return look;
}

std::string asked_for(const ordered_json& run) {
  if (!run.is_object()) return in_words(run);
  std::string command = "rankcheck run";
  std::string others;
  const auto suites = run.find("suites");
  if (suites != run.end()) command += option_text("", values_of_option("suites", *suites));
  for (const auto& [field, value] : run.items()) {
    if (field == "suites") continue;
    if (value.is_boolean() && !value.get<bool>()) continue;
    const std::string_view option = option_of(field);
    if (field == "quick") {
      command += " --quick";
    } else if (option.empty()) {
      others += fmt::format("; {} {}", field, in_words(value));
    } else {
      command += option_text(option, values_of_option(field, value));
    }
  }
  return command + others;
}

void write_opening(Html& html, const Report& report, const Summary& summary) {
  const std::array colors{"good", "bad", "doubt"};
  const int status = exit_status(report);
  {
    const Html::Element box = html.open(
        "header",
        {{"id", "verdict"},
         {"tabindex", "-1"},
         {"class", fmt::format("verdict {}", colors.at(static_cast<std::size_t>(status)))}});
    html.leaf("h1", verdict_of(report, summary.total));
    const std::vector<FailureGroup> groups = group_failures(report.findings);
    std::vector<GateItem> failed_parts = gate_items_not_passed(report);
    std::erase_if(failed_parts, [](const GateItem& each) { return !is_red(each.verdict); });
    write_first_failures(html, groups, failed_parts);
    html.leaf("p", how_counts_belong_together(report, groups));
  }
  write_contents(html, report);
  const Html::Element columns = html.open("div", {{"class", "columns"}});
  write_verified(html, report, summary.total);
  write_unverified(html, report, summary.total);
}

}  // namespace rankcheck::harness::page
