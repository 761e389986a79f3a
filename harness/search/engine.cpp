#include "harness/search/engine.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <rapidcheck/Random.h>
#include <rapidcheck/seq/Create.h>
#include <rapidcheck/seq/Transform.h>
#include <rapidcheck/shrinkable/Create.h>
#include <rapidcheck/shrinkable/Operations.h>

#include "harness/base/hash.hpp"
#include "harness/base/run_clock.hpp"
#include "harness/base/table.hpp"
#include "harness/case/image.hpp"
#include "harness/check/case_change.hpp"
#include "harness/search/engine_failure.hpp"
#include "harness/search/known_cases.hpp"
#include "harness/search/shrink.hpp"
#include "harness/suite/suite_file.hpp"

namespace rankcheck::harness {

namespace {

using Clock = RunClock;

/// The sizes of cases grow over at most this many cases, and then begin again.
constexpr int round_cases = 10'000;

/// Runs one unit.
class Session {
 public:
  Session(const Catalogue& catalogue, Backend& backend, const Unit& unit, const RunLimits& limits)
      : catalogue_(catalogue),
        unit_(unit),
        limits_(limits),
        seed_(unit_seed(limits.seed, unit)),
        generator_(catalogue, backend, unit, seed_, limits.covered),
        known_(unit, limits.known),
        examiner_(catalogue, backend),
        compares_stamps_(catalogue.find(unit.operation)->contract.synchronises) {
    finding_.unit = unit;
    if (limits.history != nullptr) examiner_.keep_history(*limits.history);
  }

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    // The failure was counted when it was found. By now it is shrunk and replayed.
    if (first_ && limits_.failures_shrinking != nullptr) --*limits_.failures_shrinking;
  }

  Finding run() {
    if (generator_.cells().empty()) return without_cases();
    for (int done = 0; done < unit_.cases && !stopped_ && !first_; done += round_cases) {
      search(done);
    }
    if (is_interrupted_ && finding_.cases == 0) throw Interrupted();
    if (first_) confirm();
    conclude();
    return std::move(finding_);
  }

 private:
  /// Draws cases and runs them until one fails, and makes that one simpler.
  void search(int done) {
    const int count = std::min(unit_.cases - done, round_cases);
    rc::Random random(mix(seed_, static_cast<std::uint64_t>(done)));
    for (int i = 0; i < count && !stopped_ && !first_; ++i) {
      try {
        Case c;
        prepare(random.split().next(), size_of(i, count), c);
        if (!stopped_) judge(c);
      } catch (const Interrupted&) {
        is_interrupted_ = true;
        stop("interrupted");
      }
    }
    if (first_) shrink();
  }

  /// The size of case `i` of `count`: it grows from 0 to the largest, again and again. The last
  /// cases, which are too few for all sizes, are spread over them.
  static int size_of(int i, int count) {
    constexpr int largest = 100;
    const int rest = count % (largest + 1);
    const int spread = i - (count - rest);
    if (spread < 0) return i % (largest + 1);
    return rest == 1 ? 0 : spread * largest / (rest - 1);
  }

  /// Makes the first failure simpler for as long as a simpler case fails in the same way.
  void shrink() {
    const auto simpler = [this](const Case& c) {
      std::vector<Case> all;
      harness::shrinks(catalogue_, c, all);
      auto in_time = rc::seq::takeWhile(rc::seq::fromContainer(std::move(all)),
                                        [this](const Case&) { return !is_over(shrink_end_); });
      // The backend refuses other cases: running them would show nothing.
      return rc::seq::filter(std::move(in_time),
                             [this](const Case& each) { return is_candidate(each); });
    };
    std::ignore = rc::shrinkable::findLocalMin(rc::shrinkable::shrinkRecur(first_->c, simpler),
                                               [this](const Case& c) { return is_simpler(c); });
  }

  [[nodiscard]] bool is_over(Clock::time_point end) const {
    if (limits_.stop.is_made()) return true;
    return end != Clock::time_point::max() && Clock::now() >= end;
  }

  void prepare(std::uint64_t word, int size, Case& out) {
    if (is_over(limits_.deadline)) return stop("the time limit was reached");
    if (!generator_.next(word, size, out)) stop("no further case could be generated");
  }

  void stop(std::string why) {
    stopped_ = true;
    stop_reason_ = std::move(why);
  }

  /// Runs a case that was drawn, and counts it.
  void judge(const Case& c) {
    if (known_.leaves_out(catalogue_, c)) return generator_.note_known(c);
    if (unit_.count > 0 && !fits_into_memory(catalogue_, c, limits_.memory_bytes)) {
      finding_.verdict = Verdict::skipped;
      finding_.reason = name(SkipReason::no_memory);
      return stop(finding_.reason);
    }
    examine(examiner_, c, judgement_);
    if (judgement_.verdict == Verdict::errored) {
      show({c, judgement_}, finding_);
      return stop(judgement_.reason);
    }
    if (judgement_.verdict == Verdict::skipped) {
      ++finding_.refused_cases;
      if (finding_.refusal.empty()) finding_.refusal = judgement_.reason;
      return;
    }
    if (is_known(examiner_, c, judgement_, limits_, known_, finding_)) {
      return generator_.note_known(c);
    }
    count(c);
    if (!is_failure(judgement_.verdict)) return;
    first_ = Failure{c, judgement_};
    calls_before_ = examiner_.calls_before();
    if (limits_.failures_shrinking != nullptr) ++*limits_.failures_shrinking;
    minimal_ = *first_;
    hurry_if_hung();
    shrink_end_ = std::min(after(limits_.shrink_s), limits_.deadline);
  }

  /// Whether a simpler case fails in the same way, for example with a race again; it is then the
  /// minimal one. Otherwise another defect would take over.
  bool is_simpler(const Case& c) {
    try {
      examine(examiner_, c, judgement_);
    } catch (const Interrupted&) {
      // The stop ends shrinking. The failure that was found may still be replayed.
      return false;
    }
    if (!has_failed_as_first()) return false;
    accept(c);
    return true;
  }

  /// Takes a simpler case that failed as the minimal one.
  void accept(const Case& c) {
    ++finding_.shrinks;
    if (finding_.steps.size() < steps_max) finding_.steps.push_back(step_text(minimal_.c, c));
    minimal_ = {c, judgement_};
  }

  /// Takes the case that failed first as the minimal one again.
  void go_back_to_first() {
    minimal_ = *first_;
    finding_.shrinks = 0;
    finding_.steps.clear();
  }

  void count(const Case& c) {
    harness::count(judgement_, limits_, finding_);
    if (judgement_.verdict == Verdict::vacuous) {
      if (vacuous_reason_.empty()) vacuous_reason_ = judgement_.reason;
      return;
    }
    const bool compared = judgement_.compared_bytes > 0 || compares_stamps_;
    if (compared) {
      const int members = group_size(c);
      finding_.ranks_max = std::max(finding_.ranks_max, members);
      const Cell* const cell = generator_.cell_of(c);
      if (cell != nullptr) ++finding_.cell_members[cell->name()].cases[members];
    }
    generator_.cover(c, compared);
  }

  /// Replays the minimal case. It may have failed only by chance, or because of what earlier cases
  /// left behind in the backend. Then this goes back to the case that failed first, and shrinks it
  /// once more if it always fails.
  void confirm() {
    examiner_.backend().hurry(false);
    ReplayResult result = replay_failure(examiner_, minimal_, limits_);
    if (result.failed == 0 && result.verdict != Verdict::errored && finding_.shrinks > 0) {
      go_back_to_first();
      result = replay_failure(examiner_, minimal_, limits_);
      if (result.failed == result.replays) result = shrink_afresh(std::move(result));
    }
    const bool needs_more = result.failed == 0 && result.verdict != Verdict::errored;
    if (needs_more && find_history()) result = replay_failure(examiner_, minimal_, limits_);
    examiner_.restart(0);
    report(minimal_, result, finding_);
    if (finding_.shrinks > 0) finding_.original = first_->c;
    if (finding_.verdict == Verdict::flaky && result.failed == 0) {
      finding_.reason += ", perhaps because it needs what earlier calls left behind";
      if (passed_after_ == 0) return;
      finding_.reason += fmt::format(" (it passed after the last {}, too)",
                                     counted(passed_after_, "call", "calls"));
    }
  }

  /// Looks for the fewest of the calls before the first failure that make it fail again, in a
  /// backend that starts afresh, and shrinks them. Returns whether there are such calls.
  bool find_history() {
    const std::optional<Case> all = with_calls(*first_, calls_before_);
    if (!all) return false;
    const Clock::time_point end = std::min(after(limits_.shrink_s), limits_.deadline);
    hurry_if_hung();
    Case last = *all;
    bool is_found = false;
    for (std::size_t n = 0; !is_found && n < all->earlier.size() && !is_over(end);) {
      n = std::min(std::max<std::size_t>(2 * n, 1), all->earlier.size());
      last.earlier.assign(all->earlier.end() - static_cast<std::ptrdiff_t>(n), all->earlier.end());
      if (!is_taken(last)) continue;
      is_found = fails_afresh(last);
      if (judgement_.verdict == Verdict::passed) passed_after_ = static_cast<std::int64_t>(n);
    }
    if (is_found) accept(last);
    while (is_found && accept_candidate(end)) {
    }
    examiner_.backend().hurry(false);
    return is_found;
  }

  /// The last call of a failure as a case of the property with earlier calls: these, and the
  /// failure's own. Empty if there is no such property, or no call that it can have.
  [[nodiscard]] std::optional<Case> with_calls(const Failure& failure, std::vector<Case> calls) {
    std::vector<Case> own = program_of(catalogue_, failure.c);
    Case out = own.back();
    own.pop_back();
    calls.insert(calls.end(), own.begin(), own.end());
    const auto& properties = catalogue_.find(out.operation)->properties;
    const auto property = std::ranges::find_if(properties, &Property::has_earlier);
    if (property == properties.end()) return std::nullopt;
    out.property = property->name;
    const Family* const family = find_family(out.operation);
    std::erase_if(calls, [&](const Case& call) {
      return call.input == InputKind::previous || find_family(call.operation) != family ||
             call.hosts != out.hosts;
    });
    calls.erase(calls.begin(),
                calls.end() - std::min<std::ptrdiff_t>(std::ssize(calls), earlier_max));
    if (calls.empty() || out.input == InputKind::previous) return std::nullopt;
    int ranks = out.ranks;
    for (const Case& call : calls) ranks = std::max(ranks, call.ranks);
    bool overlap = false;
    for (Case& call : calls) {
      call = in_world_of(ranks, std::move(call));
      call.property = Case().property;
      // The calls are those of several cases, of which some may free communicators.
      overlap = overlap || call.overlaps;
      call.frees = call.frees && !overlap;
    }
    out = in_world_of(ranks, std::move(out));
    out.earlier = std::move(calls);
    return out;
  }

  /// The call in a world of more ranks, with the members that it has.
  static Case in_world_of(int ranks, Case call) {
    if (ranks > call.ranks) call.group = members(call);
    call.ranks = ranks;
    return call;
  }

  /// Whether the case is valid and not too large, and the backend takes every call of it.
  [[nodiscard]] bool is_taken(const Case& c) {
    return why_invalid(catalogue_, c).empty() &&
           fits_into_memory(catalogue_, c, limits_.memory_bytes) &&
           std::ranges::all_of(program_of(catalogue_, c), [&](const Case& call) {
             return examiner_.backend().why_refused(call).empty();
           });
  }

  /// Shrinks the first failure, whose replays are `of_first`. The backend starts afresh for each
  /// candidate. Returns the replays of the minimal case.
  ReplayResult shrink_afresh(ReplayResult of_first) {
    const Clock::time_point end = std::min(after(limits_.shrink_s), limits_.deadline);
    hurry_if_hung();
    while (accept_candidate(end)) {
    }
    examiner_.backend().hurry(false);
    if (finding_.shrinks == 0) return of_first;
    ReplayResult result = replay_failure(examiner_, minimal_, limits_);
    if (result.failed == result.replays) return result;
    go_back_to_first();
    return of_first;
  }

  /// Lets simpler cases of a hung one hang for a shorter time, so that more of them can be tried.
  /// The replays of the minimal case confirm it.
  void hurry_if_hung() {
    if (first_->judgement.verdict == Verdict::hung) examiner_.backend().hurry(true);
  }

  /// Replaces the minimal case by a simpler one that fails in the same way in a backend that starts
  /// afresh. Returns whether there was one before `end`.
  bool accept_candidate(Clock::time_point end) {
    std::vector<Case> candidates;
    harness::shrinks(catalogue_, minimal_.c, candidates);
    for (const Case& each : candidates) {
      if (is_over(end)) return false;
      if (!is_candidate(each) || !fails_afresh(each)) continue;
      accept(each);
      return true;
    }
    return false;
  }

  /// Whether a simpler case may take the place of the failure: the backend takes it, and a known
  /// defect could not make it fail in the same way.
  [[nodiscard]] bool is_candidate(const Case& c) {
    const bool takes = c.property == unit_.property ? generator_.takes(c) : is_taken(c);
    return takes && !known_.may_cover(c, first_->judgement);
  }

  /// Whether a case fails as the first one did, in a backend that starts afresh. A stop says no.
  bool fails_afresh(const Case& c) {
    try {
      examiner_.restart(c.ranks);
      examine(examiner_, c, judgement_);
    } catch (const Interrupted&) {
      return false;
    }
    return has_failed_as_first();
  }

  /// Whether the last case failed as the first one did, and not because of a known defect in one of
  /// its stages.
  [[nodiscard]] bool has_failed_as_first() const {
    const Judgement& first = first_->judgement;
    return judgement_.verdict == first.verdict && judgement_.symptom == first.symptom &&
           !known_.covers_stages(examiner_.stages_as_they_ran(), first);
  }

  /// Makes the finding if the backend or the property takes no case at all.
  Finding without_cases() {
    note_refused_cells();
    finding_.verdict = Verdict::vacuous;
    if (generator_.refused() == 0) {
      finding_.reason = "the property applies to no case of the unit";
      return std::move(finding_);
    }
    finding_.refusal = generator_.first_refusal();
    if (!finding_.missing_cells.empty()) {
      finding_.reason = fmt::format("the backend refuses all cases, and {} is required",
                                    finding_.missing_cells.front());
      if (!finding_.refusal.empty()) finding_.reason += ": " + finding_.refusal;
    } else {
      finding_.verdict = Verdict::skipped;
      finding_.reason = name(SkipReason::not_supported);
    }
    return std::move(finding_);
  }

  /// Notes the cells that the backend refuses. Refused cells that are required are missing.
  void note_refused_cells() {
    finding_.refused_cells = generator_.refused_cells();
    std::vector<std::string> missing;
    for (const std::string& each : finding_.refused_cells) {
      if (is_required(each)) missing.push_back(each);
    }
    if (missing.empty()) return;
    const std::set<std::string> offered = offered_alone();
    for (std::string& each : missing) {
      if (!offered.contains(each)) finding_.missing_cells.push_back(std::move(each));
    }
  }

  /// The cells that the backend offers to the plain comparison with the reference. They are not
  /// missing in this unit: its property needs more of the backend, such as a second operation or
  /// calls in place, and nobody required that.
  [[nodiscard]] std::set<std::string> offered_alone() {
    Unit plain = unit_;
    plain.property = Case().property;
    const bool has_property = catalogue_.find_property(plain.operation, plain.property) != nullptr;
    if (!has_property || plain.property == unit_.property) return {};
    const Generator generator(catalogue_, examiner_.backend(), plain, seed_);
    std::set<std::string> cells;
    for (const Cell& each : generator.cells()) {
      if (each.is_open) cells.insert(each.name());
    }
    return cells;
  }

  void conclude() {
    for (const Cell& each : generator_.cells()) note(each.name(), each);
    for (const SiteCell& each : generator_.sites()) note(each.site.name, each);
    note_refused_cells();
    finding_.known = known_.counts();
    if (finding_.verdict != Verdict::passed) return;
    judge_coverage(finding_);
    if (finding_.verdict != Verdict::vacuous) return;
    if (stopped_) finding_.reason += ": " + stop_reason_;
    if (!vacuous_reason_.empty()) finding_.reason += ": " + vacuous_reason_;
  }

  void note(const std::string& name, const auto& cell) {
    if (cell.covered > 0) {
      finding_.cells[name] = cell.covered;
    } else if (cell.is_open && cell.is_known) {
      finding_.known_cells.push_back(name);
    } else if (cell.is_open && (unit_.require_all_cells || is_required(name))) {
      finding_.missing_cells.push_back(name);
    }
  }

  [[nodiscard]] bool is_required(const std::string& cell) const {
    const std::string place = unit_.operation + '/' + cell;
    return std::ranges::any_of(unit_.require,
                               [&](const std::string& each) { return matches(each, place); });
  }

  const Catalogue& catalogue_;
  const Unit& unit_;
  const RunLimits& limits_;
  std::uint64_t seed_;
  Generator generator_;
  KnownCases known_;
  Examiner examiner_;
  Finding finding_;
  Judgement judgement_;
  /// Whether the operation synchronises: it has no output, so the times at which ranks enter and
  /// leave are judged.
  bool compares_stamps_;
  bool stopped_ = false;
  /// Whether a stop was requested while a case was running.
  bool is_interrupted_ = false;
  std::string stop_reason_;
  /// Why the first vacuous case showed nothing.
  std::string vacuous_reason_;
  std::optional<Failure> first_;
  /// The calls that the ranks made before the first failure.
  std::vector<Case> calls_before_;
  /// The most of these calls after which the failure did not come back.
  std::int64_t passed_after_ = 0;
  Failure minimal_;
  Clock::time_point shrink_end_ = Clock::time_point::max();
};

}  // namespace

std::uint64_t unit_seed(std::uint64_t run_seed, const Unit& unit) {
  return mix(run_seed, hash_of(unit.id()));
}

Finding run_unit(const Catalogue& catalogue,
                 Backend& backend,
                 const Unit& unit,
                 const RunLimits& limits) {
  try {
    return Session(catalogue, backend, unit, limits).run();
  } catch (const std::exception& error) {
    Finding finding;
    finding.unit = unit;
    finding.verdict = Verdict::errored;
    finding.reason = error.what();
    return finding;
  }
}

}  // namespace rankcheck::harness
