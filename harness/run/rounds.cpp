#include "harness/run/rounds.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "harness/base/hash.hpp"
#include "harness/base/run_clock.hpp"
#include "harness/known/known_defects.hpp"
#include "harness/run/memory.hpp"
#include "harness/run/progress.hpp"
#include "harness/search/engine.hpp"
#include "harness/search/runner.hpp"

namespace rankcheck::harness::run {

namespace {

class Rounds {
 public:
  Rounds(Session& session, const ThisProgram& program)
      : session_(session),
        plan_(session.plan),
        record_(session.journal.record()),
        program_(program),
        progress_({.rounds_end = plan_.cycles ? std::optional(session.deadline) : std::nullopt,
                   .is_quiet = session.options.quiet}),
        took_s_(plan_.units.size()),
        runner_(options(), hooks()) {}

  void run() {
    settle_unavailable();
    Ending ending = Ending::completed;
    do {
      ending = run_round();
    } while (plan_.cycles && ending == Ending::completed && has_more_rounds() &&
             !(session_.options.fail_fast && has_failed()));
    const int rounds = round_--;
    runner_.close(plan_.units);
    progress_.clear();
    // A suite that repeats itself is complete when its time is over.
    const bool is_full = plan_.cycles && ending == Ending::time_over && rounds > 1;
    session_.journal.end({
        .ending = std::string(name(is_full ? Ending::completed : ending)),
        .rounds = rounds,
        .finished = utc_now(),
        .duration_s = elapsed_s(),
    });
  }

 private:
  [[nodiscard]] double elapsed_s() const {
    return std::chrono::duration<double>(RunClock::now() - session_.start).count();
  }

  [[nodiscard]] RunnerOptions options() {
    return {
        .jobs = *session_.options.jobs,
        .fail_fast = session_.options.fail_fast,
        .coverage_grows = plan_.cycles,
        .limits = {.deadline = session_.deadline,
                   .replays = session_.options.replays.value_or(RunLimits().replays),
                   .stop = session_.options.stop,
                   .cases_done = &progress_.cases_done(),
                   .failures_shrinking = &progress_.failures_shrinking()},
    };
  }

  [[nodiscard]] RunnerHooks hooks() {
    return {
        .open =
            [this](const std::string& name) {
              return program_.backends.open(name,
                                            {.ranks_max = plan_.ranks_max.at(name),
                                             .timeout_s = timeout_s(session_.options),
                                             .stop = session_.options.stop});
            },
        .available_memory = [] { return available_memory(); },
        .check = [this](Backend& backend,
                        const Unit& unit,
                        const RunLimits& limits) { return check(backend, unit, limits); },
        .finish = [this](std::size_t index,
                         Finding finding,
                         bool whole) { finish(index, std::move(finding), whole); },
        .tick = [this] { progress_.tick(); },
    };
  }

  /// Writes the findings of the units that cannot run.
  void settle_unavailable() {
    for (std::size_t i = 0; i < plan_.units.size(); ++i) {
      if (!cannot_run(plan_, plan_.units[i]) || record_.finding(i)) continue;
      session_.journal.append({.round = 0, .finding = finding_without_run(plan_, plan_.units[i])});
    }
  }

  /// Runs the rest of a round, then counts the round.
  Ending run_round() {
    std::vector<Unit> units = plan_.units;
    for (Unit& unit : units) unit.cases = cases_of(unit);
    const std::vector<bool> done = done_units();
    std::int64_t cases = 0;
    for (std::size_t i = 0; i < units.size(); ++i) cases += done[i] ? 0 : units[i].cases;
    progress_.begin_round(units.size(), spec::to_size(std::ranges::count(done, true)), cases);
    const Ending ending = runner_.run_round(units, done, seed());
    if (plan_.cycles) progress_.end_round(round_, record_.tally());
    ++round_;
    return ending;
  }

  /// Returns a unit's cases in this round. In a suite that repeats itself, the first rounds are
  /// short, so that every unit is reached soon. Each round has twice the cases of the one before,
  /// up to the unit's own number.
  [[nodiscard]] int cases_of(const Unit& unit) const {
    constexpr std::int64_t first_cases = 5;
    // More cases than any unit has.
    constexpr int doublings_max = 30;
    if (!plan_.cycles) return unit.cases;
    const std::int64_t cases = first_cases << std::min(round_, doublings_max);
    return static_cast<int>(std::min<std::int64_t>(unit.cases, cases));
  }

  /// Returns the seed of this round. It is mixed, so that the rounds of one seed share no cases
  /// with the rounds of the next seed.
  [[nodiscard]] std::uint64_t seed() const {
    const std::uint64_t seed = *session_.selection.seed;
    return round_ == 0 ? seed : mix(seed, static_cast<std::uint64_t>(round_));
  }

  /// Whether further rounds can show anything new about a unit. They cannot if its backend is
  /// unavailable or refuses all of its cases, or if its only case is pinned.
  [[nodiscard]] bool is_repeated(std::size_t index) const {
    const auto& before = record_.finding(index);
    const Unit& unit = plan_.units[index];
    return unit.pinned.empty() && !cannot_run(plan_, unit) &&
           !(before && before->verdict == Verdict::skipped);
  }

  [[nodiscard]] bool has_more_rounds() const {
    for (std::size_t i = 0; i < plan_.units.size(); ++i) {
      if (is_repeated(i)) return true;
    }
    return false;
  }

  /// Marks the units with nothing to do in this round:
  /// - earlier rounds have settled the unit,
  /// - an interrupted run has already done the unit in this round,
  /// - the round is short and the unit lacks no coverage.
  [[nodiscard]] std::vector<bool> done_units() const {
    std::vector<bool> done(plan_.units.size());
    for (std::size_t i = 0; i < done.size(); ++i) {
      const Unit& unit = plan_.units[i];
      const auto& before = record_.finding(i);
      done[i] = cannot_run(plan_, unit) || record_.is_done(round_, i) ||
                (round_ > 0 && !is_repeated(i)) ||
                (cases_of(unit) < unit.cases && before && !lacks_coverage(*before));
    }
    return done;
  }

  [[nodiscard]] bool has_failed() const {
    for (std::size_t i = 0; i < plan_.units.size(); ++i) {
      const auto& finding = record_.finding(i);
      if (finding && is_red(*finding) && !lacks_coverage(*finding)) return true;
    }
    return false;
  }

  /// Checks a unit and notes how long that took. Each unit is checked by one thread at a time.
  Finding check(Backend& backend, const Unit& unit, const RunLimits& limits) {
    const auto start = std::chrono::steady_clock::now();
    Finding finding = judge(backend, unit, limits);
    took_s_[record_.index_of(unit)] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return finding;
  }

  Finding judge(Backend& backend, const Unit& unit, const RunLimits& of_run) {
    RunLimits limits = of_run;
    limits.known = known_of(record_.known(), record_.environment(), unit);
    if (!unit.pinned.empty()) {
      return run_pinned(program_.catalogue, backend, unit, plan_.pinned.at(unit.id()), limits);
    }
    const auto& before = record_.finding(record_.index_of(unit));
    if (before) limits.covered = before->cells;
    return run_unit(program_.catalogue, backend, unit, limits);
  }

  /// Takes the finding of a unit. A partial one counts until the unit is checked again.
  void finish(std::size_t index, Finding finding, bool whole) {
    finding.unit = plan_.units[index];
    // The finding is on disk before it is shown.
    session_.journal.append({.round = round_,
                             .finding = finding,
                             .whole = whole,
                             .at_s = elapsed_s(),
                             .took_s = std::exchange(took_s_[index], 0)});
    progress_.show(finding);
  }

  Session& session_;
  const RunPlan& plan_;
  const Record& record_;
  const ThisProgram& program_;
  Progress progress_;
  /// Seconds that each unit took in this round.
  std::vector<double> took_s_;
  Runner runner_;
  int round_ = 0;
};

}  // namespace

void run_rounds(Session& session, const ThisProgram& program) {
  Rounds(session, program).run();
}

}  // namespace rankcheck::harness::run
