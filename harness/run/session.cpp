#include "harness/run/session.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "harness/base/run_clock.hpp"
#include "harness/base/table.hpp"
#include "harness/case/fields.hpp"
#include "harness/check/finding_json.hpp"
#include "harness/known/known_defects.hpp"
#include "harness/report/report.hpp"
#include "harness/run/data_files.hpp"

namespace rankcheck::harness::run {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;
using Clock = RunClock;

/// What a run makes of its journal.
constexpr std::array report_names{report_name, "junit.xml", "summary.md", page_name};

/// The most jobs that a run chooses by itself. More of them only help if nobody else needs the
/// machine, which the user has to say.
constexpr int chosen_jobs_max = 4;

/// Returns the selection with paths of suites that are valid from any working directory.
Selection seen_from(const fs::path& directory, Selection selection) {
  for (std::string& suite : selection.suites) {
    if (is_path_of_suite(suite)) suite = (directory / suite).lexically_normal().string();
  }
  return selection;
}

/// Returns a message that says what a field was when the run began and what it is now. A long value
/// loses its middle, so that the message keeps its own.
std::string change_of(const std::string& field,
                      const ordered_json& before,
                      const ordered_json& now,
                      std::size_t bytes_max = 50) {
  const auto say = [bytes_max](const ordered_json& value) {
    return value.is_null() ? std::string("left out") : shortened(value.dump(), bytes_max);
  };
  return fmt::format(
      "got {2}, expected {0} to be {1}, as when the run began", field, say(before), say(now));
}

/// Returns a message about the first field that differs. Empty if none differs. `prefix` stands
/// before the names of the fields.
std::string first_change(const ordered_json& before,
                         const ordered_json& now,
                         const std::string& prefix = "") {
  ordered_json all = before;
  all.update(now);
  for (const auto& [key, value] : all.items()) {
    const ordered_json was = before.value(key, ordered_json());
    const ordered_json is = now.value(key, ordered_json());
    if (was == is) continue;
    const std::string field = prefix + key;
    return was.is_object() && is.is_object() ? first_change(was, is, field + ".")
                                             : change_of(field, was, is);
  }
  return {};
}

/// Returns the value of a field of a selection so that it can be compared. A filter may have one
/// name as a text, or several in any order.
ordered_json in_any_order(const std::string& field, const ordered_json& value) {
  constexpr std::array<std::string_view, 7> filters{
      "operation", "algorithm", "property", "backends", "types", "require", "units"};
  if (std::ranges::find(filters, field) == filters.end()) return value;
  ordered_json sorted = value.is_string() ? ordered_json::array({value}) : value;
  if (sorted.is_array()) std::sort(sorted.begin(), sorted.end());
  return sorted;
}

/// The run that --resume names.
class Previous {
 public:
  Previous(const ThisProgram& program, const fs::path& folder)
      : place_(place_of_resume(folder)), content_(read_journal(folder / journal_name)) {
    for (const auto& [field, is] :
         {std::pair("rankcheck", program.version), std::pair("commit", program.commit)}) {
      const ordered_json began = header().environment.value(field, ordered_json());
      if (began != is) fail(change_of(field, began, is));
    }
    require_checksums(place_, content_.lines);
  }

  [[nodiscard]] const JournalHeader& header() const { return content_.record.header(); }
  [[nodiscard]] double spent_s() const { return content_.record.spent_s(); }
  [[nodiscard]] JournalContent take() { return std::move(content_); }

  /// Returns the selection of the journal. Throws BadInput if an option given beside --resume
  /// differs from it.
  [[nodiscard]] Selection selection(const Selection& given) const {
    Selection selection;
    try {
      selection = seen_from(header().directory, selection_from_json(json(header().run)));
    } catch (const BadInput& bad) {
      fail(fmt::format("{}: line 1: {}", journal_name, bad.what()));
    }
    require_unchanged(place_, selection, seen_from(fs::current_path(), given));
    return selection;
  }

  /// Throws BadInput if the plan's units are not the units of the journal, to which the findings so
  /// far belong.
  void require_same(const RunPlan& plan) const {
    const auto& before = header().units;
    for (std::size_t i = 0; i < std::max(before.size(), plan.units.size()); ++i) {
      const Unit* was = i < before.size() ? &before[i] : nullptr;
      const Unit* is = i < plan.units.size() ? &plan.units[i] : nullptr;
      if (was == nullptr || is == nullptr || was->id() != is->id()) {
        const auto name = [](const Unit* unit) {
          return unit == nullptr ? ordered_json() : ordered_json(unit->id());
        };
        constexpr std::size_t name_bytes_max = 80;
        fail_changed(change_of(fmt::format("unit {}", i), name(was), name(is), name_bytes_max));
      }
      const std::string change =
          first_change(described(*was, header().pinned), described(*is, plan.pinned));
      if (!change.empty()) fail_changed(is->id() + ": " + change);
    }
    if (header().cycles != plan.cycles) {
      fail_changed(change_of("cycles", header().cycles, plan.cycles));
    }
  }

  /// Throws BadInput if known defects are given beside --resume and differ from those of the
  /// journal.
  void require_known(const std::vector<std::string>& paths, const Catalogue& catalogue) const {
    if (paths.empty()) return;
    const json now = read_known_files(paths, catalogue);
    if (json(header().known) == now) return;
    fail("--known: got other known defects, expected those with which the run began");
  }

  /// Throws BadInput if a backend runs otherwise than in the environment of the journal.
  void require_settings(const ordered_json& environment) const {
    const auto settings = [](const ordered_json& of) {
      return of.value("backends", ordered_json::object());
    };
    const ordered_json before = settings(header().environment);
    const ordered_json now = settings(environment);
    ordered_json all = before;
    all.update(now);
    const ordered_json none = ordered_json::object();
    for (const auto& [name, either] : all.items()) {
      const std::string change = first_change(before.value(name, none), now.value(name, none));
      if (!change.empty()) fail(fmt::format("backends: {}: {}", name, change));
    }
  }

 private:
  /// Returns everything that a unit checks, as JSON.
  static ordered_json described(const Unit& unit, const std::map<std::string, Case>& pinned) {
    ordered_json out = to_json(unit);
    const auto found = pinned.find(unit.id());
    if (found != pinned.end()) out["case"] = to_json(found->second);
    return out;
  }

  [[noreturn]] void fail(const std::string& what) const { throw BadInput(place_ + what); }
  [[noreturn]] void fail_changed(const std::string& what) const {
    fail(what + ": suites, pinned cases or backends have changed");
  }

  std::string place_;
  JournalContent content_;
};

/// Returns the time at which the whole run must end. Earlier sessions have spent `spent_s` of its
/// budget. Throws BadInput if no time is left, or if a plan that cycles has no budget.
Clock::time_point deadline_of(const RunOptions& options,
                              const RunPlan& plan,
                              Clock::time_point start,
                              double spent_s = 0) {
  const double budget_s = options.time_budget_s.value_or(plan.time_limit_s);
  if (plan.cycles && budget_s <= 0) {
    throw BadInput("--time-budget: is missing, and the suite repeats itself: expected seconds");
  }
  if (budget_s <= 0) return Clock::time_point::max();
  const std::chrono::duration<double> left(budget_s - spent_s);
  // If the time of a run that repeats itself is over, the run is complete.
  if (left.count() <= 0 && !plan.cycles) {
    throw BadInput(fmt::format(
        "{}the run's time is over: --time-budget is {} s, expected more than the {:.0f} "
        "s that it has taken",
        place_of_resume(options.resume),
        budget_s,
        std::ceil(spent_s)));
  }
  return start + std::chrono::duration_cast<Clock::duration>(left);
}

/// Chooses the number of jobs if the user did not. A backend that can be open only once leaves a
/// run with one job in any case.
void settle_jobs(const Selection& selection,
                 const AvailableBackends& backends,
                 RunOptions& options) {
  if (!options.jobs) {
    const bool is_ours = std::ranges::all_of(
        selection.backends, [&](const auto& each) { return backends.find_entry(each) != nullptr; });
    const auto processors = static_cast<int>(std::thread::hardware_concurrency());
    options.jobs = is_ours ? std::clamp(processors, 1, chosen_jobs_max) : 1;
  }
  for (const std::string& each : selection.backends) {
    if (!backends.takes_jobs(each)) options.jobs = 1;
  }
}

/// Fills in time budget, timeout and number of replays from the environment in which the run began,
/// if they were not given.
void complete(RunOptions& options, const std::string& place, const ordered_json& environment) {
  const json plain = environment;
  Fields fields(plain, place + "environment");
  if (!options.time_budget_s) fields.optional("time_budget_s", options.time_budget_s);
  if (!options.timeout_s) fields.optional("timeout_s", options.timeout_s);
  if (!options.replays) fields.optional("replays", options.replays);
}

/// Returns the environment object of the report. `now` is the time at which the session began.
ordered_json environment_of(const ThisProgram& program,
                            const RunOptions& options,
                            const RunPlan& plan,
                            const std::string& now) {
  ordered_json out = program.describe_machine();
  out["rankcheck"] = program.version;
  out["commit"] = program.commit;
  out["started"] = now;
  out["jobs"] = *options.jobs;
  out["fail_fast"] = options.fail_fast;
  out["timeout_s"] = timeout_s(options);
  if (options.time_budget_s) out["time_budget_s"] = *options.time_budget_s;
  if (options.replays) out["replays"] = *options.replays;
  out["unavailable_backends"] = plan.unavailable;
  for (const BackendEntry& each : program.backends.entries()) {
    const bool is_used = each.settings != nullptr && plan.ranks_max.contains(each.name);
    if (is_used) out["backends"][each.name] = each.settings();
  }
  for (const auto& [name, versions] : plan.versions) out["backends"][name]["versions"] = versions;
  for (const auto& [command, subject] : plan.subjects) {
    out["backends"][subject.name] = {{"command", command}, {"versions", subject.versions}};
  }
  out["resumed"] = !options.resume.empty();
  out.update(plan.environment);
  return out;
}

/// Creates the folder of a new run and removes old reports in it. Throws BadInput if the folder
/// holds a run, and FileError.
void begin_folder(const fs::path& folder) {
  require_no_run(folder);
  make_folder(folder);
  for (const char* stale : report_names) {
    std::error_code absent;
    fs::remove(folder / stale, absent);
  }
}

/// Removes the run that a folder holds, if any. Throws BadInput if it holds anything else.
void remove_run(const fs::path& folder) {
  std::error_code absent;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, absent)) {
    const std::string name = entry.path().filename().string();
    const bool is_ours =
        name == journal_name || name == bench_name ||
        std::ranges::any_of(report_names, [&](const char* report) {
          // A program that was killed leaves a file with a longer name.
          return name == report || (name.starts_with(report) && name.ends_with(".tmp"));
        });
    if (!is_ours || entry.is_directory(absent)) {
      throw BadInput(
          fmt::format("--overwrite: {}: found {}, expected a folder that holds the report of a run "
                      "and nothing else",
                      folder.string(),
                      name));
    }
    files.push_back(entry.path());
  }
  for (const fs::path& file : files) fs::remove(file, absent);
}

Session resume_session(RunOptions options, const ThisProgram& program, const Planner& plan_of) {
  const Clock::time_point start = Clock::now();
  const std::string now = utc_now();
  const fs::path folder = options.resume;
  Previous previous(program, folder);
  Selection selection = previous.selection(parse_selection(options));
  previous.require_known(options.known, program.catalogue);
  const std::optional<double> budget_s = options.time_budget_s;
  complete(options, place_of_resume(folder), previous.header().environment);
  settle_jobs(selection, program.backends, options);
  RunPlan plan = plan_of(options, selection, &previous.header());
  plan.cycles = plan.cycles || options.repeat;
  previous.require_same(plan);
  if (plan.budget_of_session) options.time_budget_s = budget_s;
  const Clock::time_point deadline =
      deadline_of(options, plan, start, plan.budget_of_session ? 0 : previous.spent_s());
  ordered_json environment = environment_of(program, options, plan, now);
  previous.require_settings(environment);
  return {
      .options = std::move(options),
      .selection = std::move(selection),
      .plan = std::move(plan),
      .folder = folder,
      .start = start,
      .deadline = deadline,
      .journal = {folder / journal_name, previous.take(), std::move(environment)},
  };
}

Session new_session(RunOptions options, const ThisProgram& program, const Planner& plan_of) {
  const Clock::time_point start = Clock::now();
  const std::string now = utc_now();
  Selection selection = parse_selection(options);
  if (!selection.seed) selection.seed = default_seed;
  ordered_json known = read_known_files(options.known, program.catalogue);
  settle_jobs(selection, program.backends, options);
  RunPlan plan = plan_of(options, selection, nullptr);
  plan.cycles = plan.cycles || options.repeat;
  const fs::path folder = choose_folder(options, selection.suites);
  const Clock::time_point deadline = deadline_of(options, plan, start);
  if (options.overwrite) remove_run(folder);
  begin_folder(folder);
  JournalHeader header{
      .run = to_json(selection),
      .directory = fs::current_path().string(),
      .units = plan.units,
      .pinned = plan.pinned,
      .cycles = plan.cycles,
      .known = std::move(known),
      .environment = environment_of(program, options, plan, now),
  };
  return {
      .options = std::move(options),
      .selection = std::move(selection),
      .plan = std::move(plan),
      .folder = folder,
      .start = start,
      .deadline = deadline,
      .journal = {folder / journal_name, std::move(header)},
  };
}

}  // namespace

fs::path choose_folder(const RunOptions& options, const std::vector<std::string>& suites) {
  if (!options.resume.empty()) return options.resume;
  if (!options.report.empty()) return options.report;
  std::string stamp = utc_now();
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  std::string names;
  for (const std::string& each : suites) names += '-' + fs::path(each).stem().string();
  const std::string_view parent =
      fs::exists("reports/schema.json") ? "reports" : "rankcheck-report";
  const std::string base = fmt::format("{}/run-{}{}", parent, stamp, names);
  std::string folder = base;
  for (int i = 2; fs::exists(folder); ++i) folder = fmt::format("{}.{}", base, i);
  return folder;
}

std::string place_of_resume(const fs::path& folder) {
  return "--resume: " + folder.string() + ": ";
}

void require_checksums(const std::string& place, const JsonLines& lines) {
  if (lines.has_checksums) return;
  throw BadInput(
      fmt::format("{}{}: line 1: has no checksum, crc32: a journal without checksums can only "
                  "be reported",
                  place,
                  journal_name));
}

void require_unchanged(const std::string& place, const Selection& before, const Selection& given) {
  const ordered_json all = to_json(before);
  const ordered_json now = to_json(given);
  for (const auto& [key, value] : now.items()) {
    const ordered_json was = all.value(key, ordered_json());
    if (in_any_order(key, value) != in_any_order(key, was))
      throw BadInput(place + change_of(key, was, value));
  }
}

void require_no_run(const fs::path& folder) {
  if (!fs::exists(fs::symlink_status(folder / journal_name))) return;
  throw BadInput(
      "--report: " + folder.string() +
      ": contains a run: use --resume or choose another folder, or replace it with --overwrite");
}

Session open_session(const RunOptions& options,
                     const ThisProgram& program,
                     const Planner& planner) {
  const Planner of_suites =
      [&](const RunOptions& own, Selection& selection, const JournalHeader* /*before*/) {
        return make_plan(selection, program.catalogue, program.backends, own.stop);
      };
  const Planner& plan_of = planner ? planner : of_suites;
  return options.resume.empty() ? new_session(options, program, plan_of)
                                : resume_session(options, program, plan_of);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace rankcheck::harness::run
