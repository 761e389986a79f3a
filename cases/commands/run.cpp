#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/engine.hpp"
#include "harness/generator.hpp"
#include "harness/journal.hpp"
#include "harness/report.hpp"
#include "harness/runner.hpp"

#include "cases/catalogue.hpp"
#include "cases/commands/command.hpp"
#include "cases/commands/interrupt.hpp"
#include "cases/commands/progress.hpp"
#include "cases/commands/run_options.hpp"
#include "cases/commands/selection.hpp"

namespace rankcheck::cases {

namespace {

namespace fs = std::filesystem;
using harness::BadInput;
using harness::Ending;
using harness::Finding;
using harness::Unit;
using harness::Verdict;
using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// Where the report goes: as asked for, else a fresh folder under reports/ in the source tree, else
/// under ./rankcheck-report.
fs::path choose_folder(const RunOptions& options, const Selection& selection) {
  if (!options.resume.empty()) return options.resume;
  if (!options.report.empty()) return options.report;
  std::string stamp = utc_now();
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  std::string suites;
  for (const std::string& each : selection.suites) suites += '-' + fs::path(each).stem().string();
  const std::string_view parent =
      fs::exists("reports/schema.json") ? "reports" : "rankcheck-report";
  const std::string base = fmt::format("{}/run-{}{}", parent, stamp, suites);
  std::string folder = base;
  for (int i = 2; fs::exists(folder); ++i) folder = fmt::format("{}.{}", base, i);
  return folder;
}

/// One run of a selection: plan, journal, rounds, report.
class Run {
 public:
  Run(const RunOptions& options, std::string program)
      : options_(options), program_(std::move(program)), catalogue_(make_catalogue()) {}

  int execute() {
    start_ = Clock::now();
    started_ = utc_now();
    prepare();
    open_journal();
    announce();
    run_rounds();
    return finish();
  }

 private:
  void prepare() {
    selection_ = parse_selection(options_);
    if (!options_.resume.empty()) {
      const fs::path journal = fs::path(options_.resume) / journal_name;
      previous_ = harness::read_journal(journal);
      check_same_run();
      selection_ = selection_from_json(previous_->header.run, journal.string() + ": line 1: run");
    }
    fill_defaults(selection_);
    plan_ = make_plan(selection_, catalogue_);
    folder_ = choose_folder(options_, selection_);
    findings_.resize(plan_.units.size());
    for (std::size_t i = 0; i < plan_.units.size(); ++i) index_of_[plan_.units[i].id()] = i;
    const double budget = options_.time_budget_s.value_or(plan_.time_limit_s);
    if (plan_.cycles && budget <= 0) {
      throw BadInput("--time-budget: expected seconds, because the suite repeats itself");
    }
    if (budget > 0) {
      deadline_ = start_ + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(budget));
    }
  }

  /// Whatever is given beside --resume must be what the journal says.
  void check_same_run() {
    const ordered_json given = to_json(selection_);
    const ordered_json& before = previous_->header.run;
    for (const auto& [key, value] : given.items()) {
      const ordered_json wanted = before.value(key, ordered_json());
      if (value == wanted) continue;
      throw BadInput(fmt::format("--resume: {}: expected {} to be {}, as the run began, got {}",
                                 options_.resume,
                                 key,
                                 wanted.is_null() ? "left out" : wanted.dump(),
                                 value.dump()));
    }
  }

  void open_journal() {
    const fs::path path = folder_ / journal_name;
    if (!previous_ && fs::exists(fs::symlink_status(path))) {
      throw BadInput("--report: " + folder_.string() +
                     ": holds a run: --resume it or choose another folder");
    }
    harness::make_folder(folder_);
    if (previous_) {
      restore();
      journal_.emplace(path, *previous_);
      return;
    }
    for (const char* stale : {"report.json", "junit.xml", "summary.md"}) {
      std::error_code absent;
      fs::remove(folder_ / stale, absent);
    }
    journal_.emplace(path,
                     harness::JournalHeader{
                         .run = to_json(selection_),
                         .units = std::ssize(plan_.units),
                         .environment = environment(),
                     });
    for (std::size_t i = 0; i < plan_.units.size(); ++i) {
      const Unit& unit = plan_.units[i];
      if (!plan_.unavailable.contains(unit.backend)) continue;
      findings_[i] = finding_without_backend(plan_, unit);
      journal_->append({.round = 0, .finding = *findings_[i]});
    }
  }

  /// Takes over what the interrupted run found.
  void restore() {
    for (const harness::JournalEntry& entry : previous_->entries) {
      const auto found = index_of_.find(entry.finding.unit.id());
      if (found == index_of_.end() || previous_->header.units != std::ssize(plan_.units)) {
        throw BadInput("--resume: " + options_.resume +
                       ": expected the journal of a run with the same units, suites have changed");
      }
      add(found->second, entry.finding);
      done_in_round_[entry.round].insert(found->second);
    }
  }

  [[nodiscard]] std::int64_t planned_cases() const {
    std::int64_t cases = 0;
    for (const Unit& unit : plan_.units) cases += unit.cases;
    return cases;
  }

  void announce() const {
    // The seed is the first line of every run, so that any log is enough to repeat it.
    fmt::print("seed {}\n", *selection_.seed);
    fmt::print("suite {}: {} units on {}, at most {} cases{}, report in {}\n",
               fmt::join(selection_.suites, ", "),
               plan_.units.size(),
               fmt::join(backends_of(plan_), ", "),
               harness::grouped(planned_cases()),
               plan_.cycles ? " a round" : "",
               folder_.string());
    announce_left_out();
    for (const auto& [backend, reason] : plan_.unavailable) {
      const bool is_broken = plan_.broken.contains(backend);
      fmt::print("backend {} {}: {}\n",
                 backend,
                 is_broken ? "did not open" : "is skipped",
                 harness::printable(reason));
    }
    std::fflush(stdout);
  }

  void announce_left_out() const {
    constexpr std::size_t named_max = 3;
    const auto& all = plan_.left_out;
    if (all.empty()) return;
    const std::size_t named = std::min(all.size(), named_max);
    fmt::print("left out, because no such case exists: {}{}\n",
               fmt::join(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(named), ", "),
               all.size() > named ? fmt::format(" and {} more", all.size() - named) : "");
  }

  void run_rounds() {
    Progress progress(program_,
                      planned_cases(),
                      plan_.units.size(),
                      plan_.cycles ? std::optional(deadline_) : std::nullopt);
    int round = 0;
    harness::Runner runner(
        {.jobs = options_.jobs,
         .fail_fast = options_.fail_fast,
         .coverage_grows = plan_.cycles,
         .limits = {.deadline = deadline_,
                    .stop = &interrupt_.requested(),
                    .cases_done = &progress.cases_done()}},
        {.open =
             [&](const std::string& name) {
               return open_backend(name,
                                   {.ranks_max = plan_.ranks_max, .timeout_s = options_.timeout_s});
             },
         .check = [&](harness::Backend& backend,
                      const Unit& unit,
                      const harness::RunLimits& limits) { return check(backend, unit, limits); },
         .finish =
             [&](std::size_t index, Finding finding, bool whole) {
               finding.unit = plan_.units[index];
               if (whole) journal_->append({.round = round, .finding = finding});
               if (whole || round == 0) {
                 progress.show(finding);
                 add(index, std::move(finding));
               }
             },
         .tick = [&] { progress.tick(); }});
    do {
      ending_ = runner.run_round(units_of(round), done_units(round), seed_of(round));
      if (plan_.cycles) progress.end_round(round, tally());
      ++round;
    } while (plan_.cycles && ending_ == Ending::completed && has_more_rounds() &&
             !(options_.fail_fast && has_failed()));
    rounds_ = round--;
    runner.close(plan_.units);
    progress.clear();
  }

  /// The first rounds of a suite that repeats itself are short, so that every unit is reached soon;
  /// each has twice the cases of the one before, up to the units' own number.
  [[nodiscard]] int cases_of(const Unit& unit, int round) const {
    constexpr int first_cases = 5;
    constexpr int doublings_max = 20;
    if (!plan_.cycles) return unit.cases;
    return std::min(unit.cases, first_cases << std::min(round, doublings_max));
  }

  [[nodiscard]] std::vector<Unit> units_of(int round) const {
    std::vector<Unit> units = plan_.units;
    for (Unit& unit : units) unit.cases = cases_of(unit, round);
    return units;
  }

  /// The rounds of one seed share no cases with those of the next.
  [[nodiscard]] std::uint64_t seed_of(int round) const {
    const std::uint64_t seed = *selection_.seed;
    return round == 0 ? seed : harness::mix(seed, static_cast<std::uint64_t>(round));
  }

  /// Whether further rounds can show anything of a unit: not where its backend cannot be used or
  /// takes none of its cases, nor where its one case is pinned.
  [[nodiscard]] bool is_repeated(std::size_t index) const {
    const auto& before = findings_[index];
    const Unit& unit = plan_.units[index];
    return unit.pinned.empty() && !plan_.unavailable.contains(unit.backend) &&
           !(before && before->verdict == Verdict::skipped);
  }

  [[nodiscard]] bool has_more_rounds() const {
    for (std::size_t i = 0; i < plan_.units.size(); ++i) {
      if (is_repeated(i)) return true;
    }
    return false;
  }

  /// Units with nothing to do in this round: what the rounds before have settled, what an
  /// interrupted run has done, and in short rounds what lacks no coverage.
  [[nodiscard]] std::vector<bool> done_units(int round) {
    std::vector<bool> done(plan_.units.size());
    for (std::size_t i = 0; i < done.size(); ++i) {
      const Unit& unit = plan_.units[i];
      done[i] =
          plan_.unavailable.contains(unit.backend) || done_in_round_[round].contains(i) ||
          (round > 0 && !is_repeated(i)) ||
          (cases_of(unit, round) < unit.cases && findings_[i] && !lacks_coverage(*findings_[i]));
    }
    return done;
  }

  bool has_failed() const {
    return std::any_of(findings_.begin(), findings_.end(), [](const auto& finding) {
      return finding && is_red(finding->verdict) && !lacks_coverage(*finding);
    });
  }

  /// What all rounds so far come to.
  harness::Tally tally() const {
    harness::Tally total;
    for (const auto& finding : findings_) {
      if (finding) total.add(*finding);
    }
    return total;
  }

  Finding check(harness::Backend& backend,
                const Unit& unit,
                const harness::RunLimits& limits) const {
    if (unit.pinned.empty()) {
      harness::RunLimits with_coverage = limits;
      const auto& before = findings_[index_of_.at(unit.id())];
      if (before) with_coverage.covered = before->cells;
      return harness::run_unit(catalogue_, backend, unit, with_coverage);
    }
    const harness::Case& c = plan_.pinned.at(unit.id());
    Finding finding;
    finding.unit = unit;
    if (!backend.refuses(c).empty()) {
      finding.verdict = Verdict::skipped;
      finding.reason = name(harness::SkipReason::not_supported);
      return finding;
    }
    harness::Judgement judgement;
    harness::Examiner(catalogue_, backend).examine(c, judgement);
    finding.verdict = judgement.verdict;
    finding.reason = judgement.reason;
    finding.cases = 1;
    finding.compared_bytes = judgement.compared_bytes;
    finding.ratio_max = judgement.ratio_max;
    if (judgement.verdict == Verdict::passed) return finding;
    finding.minimal = c;
    finding.wrong = std::move(judgement.wrong);
    finding.wrong_count = judgement.wrong_count;
    return finding;
  }

  void add(std::size_t index, Finding finding) {
    auto& total = findings_[index];
    if (total) {
      merge(*total, finding);
    } else {
      total = std::move(finding);
    }
  }

  ordered_json environment() const {
    ordered_json out = describe_machine();
    out["rankcheck"] = version();
    out["started"] = started_;
    out["jobs"] = options_.jobs;
    out["fail_fast"] = options_.fail_fast;
    out["timeout_s"] = options_.timeout_s;
    if (options_.time_budget_s) out["time_budget_s"] = *options_.time_budget_s;
    out["unavailable_backends"] = plan_.unavailable;
    return out;
  }

  int finish() {
    harness::Report report;
    report.run = to_json(selection_);
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      if (!findings_[i] && ending_ == Ending::time_over) {
        Finding unmet;
        unmet.unit = plan_.units[i];
        unmet.verdict = Verdict::vacuous;
        unmet.reason = "not run: the time was over";
        findings_[i] = std::move(unmet);
      } else if (plan_.cycles && findings_[i] && lacks_coverage(*findings_[i])) {
        findings_[i]->reason += fmt::format(": the run ended in round {}", rounds_);
      }
      if (findings_[i]) {
        report.findings.push_back(*findings_[i]);
      } else {
        ++report.not_run;
      }
    }
    // A suite that repeats itself ends when its time is over: that is its completion.
    const bool is_full = plan_.cycles && ending_ == Ending::time_over && rounds_ > 1;
    report.ending = name(is_full ? Ending::completed : ending_);
    report.environment = environment();
    const std::chrono::duration<double> elapsed = Clock::now() - start_;
    report.environment["finished"] = utc_now();
    report.environment["duration_s"] = elapsed.count();
    report.environment["rounds"] = rounds_;
    report.environment["resumed"] = previous_.has_value();
    harness::write_report(folder_, report);
    return print_end(report, elapsed.count());
  }

  int print_end(const harness::Report& report, double elapsed_s) const {
    const harness::Summary summary = harness::summarise(report.findings);
    for (const Finding& finding : report.findings) {
      // A round on its own did not say so.
      if (!plan_.cycles || !lacks_coverage(finding)) continue;
      fmt::print("{:<9} {}  {}\n", name(finding.verdict), finding.unit.id(), finding.reason);
    }
    fmt::print("\n{}\n", to_table(summary).text());
    fmt::print("{} cases, {} bytes compared, {:.1f} s; report: {}\n",
               harness::grouped(summary.total.cases),
               harness::grouped(summary.total.compared_bytes),
               elapsed_s,
               (folder_ / "summary.md").string());
    if (report.not_run > 0 || report.ending == name(Ending::time_over)) {
      fmt::print("ended early ({}); to go on: rankcheck run --resume {}\n",
                 report.ending,
                 harness::shell_quoted(folder_.string()));
    }
    fmt::print("{}\n", outcome_line(summary.total));
    if (const int status = interrupt_.exit_status(); status != 0) return status;
    return exit_status(report);
  }

  const RunOptions& options_;
  std::string program_;
  harness::Catalogue catalogue_;
  Interrupt interrupt_;
  Selection selection_;
  Plan plan_;
  fs::path folder_;
  std::optional<harness::JournalContent> previous_;
  std::optional<harness::Journal> journal_;
  std::map<int, std::set<std::size_t>> done_in_round_;
  std::map<std::string, std::size_t> index_of_;
  std::vector<std::optional<Finding>> findings_;
  Clock::time_point start_;
  Clock::time_point deadline_ = Clock::time_point::max();
  std::string started_;
  Ending ending_ = Ending::completed;
  int rounds_ = 0;
};

}  // namespace

void add_run(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("run", "Checks suites, or what the options select");
  const auto options = std::make_shared<RunOptions>();
  add_options(*command, *options);
  command->callback(
      [options, &context] { context.exit_status = Run(*options, context.program).execute(); });
}

}  // namespace rankcheck::cases
