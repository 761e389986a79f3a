#include "harness/search/engine_failure.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <string_view>

#include <fmt/format.h>

#include "harness/base/run_clock.hpp"

namespace rankcheck::harness {

RunClock::time_point after(double seconds) {
  const RunClock::time_point now = RunClock::now();
  const auto far = std::chrono::duration<double>(RunClock::time_point::max() - now);
  if (!(seconds < far.count())) return RunClock::time_point::max();
  return now +
         std::chrono::duration_cast<RunClock::duration>(std::chrono::duration<double>(seconds));
}

void examine(Examiner& examiner, const Case& c, Judgement& judgement) {
  try {
    examiner.examine(c, judgement);
  } catch (const std::exception& error) {
    judgement = {};
    judgement.fail(Verdict::errored, error.what());
  }
}

void count(const Judgement& judgement, const RunLimits& limits, Finding& finding) {
  ++finding.cases;
  if (limits.cases_done != nullptr) limits.cases_done->fetch_add(1, std::memory_order_relaxed);
  finding.compared_bytes += judgement.compared_bytes;
  finding.power.add(judgement.power);
  if (!judgement.blind_output.empty()) ++finding.powerless_cases;
  if (std::isfinite(judgement.ratio_max)) {
    finding.ratio_max = std::max(finding.ratio_max, judgement.ratio_max);
  }
}

void show(const Failure& failure, Finding& finding) {
  finding.minimal = failure.c;
  finding.verdict = failure.judgement.verdict;
  const bool has_symptom = is_failure(failure.judgement.verdict);
  finding.symptom = has_symptom ? failure.judgement.symptom : Symptom::none;
  finding.reason = failure.judgement.reason;
  finding.wrong = failure.judgement.wrong;
  finding.wrong_count = failure.judgement.wrong_count;
  finding.marks = failure.judgement.marks;
  finding.values = failure.judgement.values;
}

ReplayResult replay_failure(Examiner& examiner, const Failure& failure, const RunLimits& limits) {
  ReplayResult result = replay(examiner, failure.c, limits, failure.judgement.verdict);
  // The next cases may have more ranks than this one.
  examiner.restart(0);
  return result;
}

bool is_known(Examiner& examiner,
              const Case& c,
              const Judgement& judgement,
              const RunLimits& limits,
              KnownCases& known,
              Finding& finding) {
  Verdict verdict = judgement.verdict;
  // Replays replace the stages.
  std::vector<Case> stages;
  if (is_failure(verdict) || known.may_damage()) stages = examiner.stages_as_they_ran();
  if (is_failure(verdict) && known.needs_replays(c, judgement)) {
    const ReplayResult result = replay_failure(examiner, {c, judgement}, limits);
    if (result.verdict == Verdict::errored) return false;
    if (result.failed < result.replays) verdict = Verdict::flaky;
  }
  const bool has_entry = known.count(c, stages, judgement, verdict);
  const bool is_damaged = known.may_have_damaged(c, stages);
  if (is_damaged && (has_entry || !is_failure(verdict))) examiner.restart(0);
  if (!has_entry) return false;
  ++finding.cases;
  finding.ranks_max = std::max(finding.ranks_max, group_size(c));
  if (limits.cases_done != nullptr) limits.cases_done->fetch_add(1, std::memory_order_relaxed);
  const bool is_stopped =
      judgement.verdict == Verdict::hung || judgement.verdict == Verdict::crashed;
  if (is_stopped && !is_damaged) examiner.restart(0);
  return true;
}

void report(const Failure& failure, const ReplayResult& result, Finding& finding) {
  const std::string_view kind = name(failure.judgement.verdict);
  // The failure was seen. If the environment fails later, that does not undo it.
  const bool is_cut = result.verdict == Verdict::errored;
  const bool is_replayed = result.failed > 0 && !is_cut;
  // Replays that fail in another way do not hide how the case failed first. A failure that says
  // nothing of the case has nothing to hide.
  const Symptom first = failure.judgement.symptom;
  const bool is_other =
      is_replayed && result.judgement.symptom != first && !says_nothing_of_case(first);
  show(is_replayed && !is_other ? Failure{failure.c, result.judgement} : failure, finding);
  if (is_other) finding.reason += "; a replay failed otherwise: " + result.judgement.reason;
  finding.replays = result.replays - (is_cut ? 1 : 0);
  finding.replays_failed = result.failed;
  if (finding.replays_failed < finding.replays) {
    finding.verdict = Verdict::flaky;
    finding.reason = fmt::format(
        "{} in {} of {} replays: {}", kind, result.failed, finding.replays, finding.reason);
  }
  if (is_cut) finding.reason += "; a replay could not be run: " + result.judgement.reason;
}

Finding run_pinned(const Catalogue& catalogue,
                   Backend& backend,
                   const Unit& unit,
                   const Case& c,
                   const RunLimits& limits) {
  Finding finding;
  finding.unit = unit;
  finding.refusal = backend.why_refused(c);
  if (!finding.refusal.empty()) {
    finding.verdict = Verdict::skipped;
    finding.reason = name(SkipReason::not_supported);
    return finding;
  }
  Examiner examiner(catalogue, backend);
  if (limits.history != nullptr) examiner.keep_history(*limits.history);
  Failure failure{c, {}};
  examine(examiner, c, failure.judgement);
  const Verdict verdict = failure.judgement.verdict;
  if (verdict == Verdict::skipped) {
    finding.verdict = Verdict::skipped;
    finding.reason = name(SkipReason::not_supported);
    finding.refusal = failure.judgement.reason;
    return finding;
  }
  KnownCases known(unit, limits.known);
  const bool is_known_failure = verdict != Verdict::errored &&
                                is_known(examiner, c, failure.judgement, limits, known, finding);
  finding.known = known.counts();
  if (is_known_failure) {
    judge_coverage(finding);
    return finding;
  }
  if (verdict != Verdict::errored) count(failure.judgement, limits, finding);
  if (verdict == Verdict::passed) return finding;
  show(failure, finding);
  if (is_failure(verdict)) report(failure, replay_failure(examiner, failure, limits), finding);
  return finding;
}

ReplayResult replay(Examiner& examiner, const Case& c, const RunLimits& limits, Verdict kind) {
  ReplayResult result;
  const RunClock::time_point end = std::min(after(limits.replay_s), limits.deadline);
  bool failed_otherwise = false;
  Judgement judgement;
  do {
    try {
      examiner.restart(c.ranks);
      if (result.replays + 1 < limits.replays) examiner.backend().expect_restart();
      examine(examiner, c, judgement);
    } catch (const Interrupted&) {
      if (result.replays == 0) throw;
      break;
    }
    ++result.replays;
    const bool counts =
        is_failure(judgement.verdict) && (kind == Verdict::passed || kind == judgement.verdict);
    if (counts) kind = judgement.verdict;
    if (is_failure(judgement.verdict) && !counts) failed_otherwise = true;
    if (result.failed == 0) result.judgement = judgement;
    if (counts) ++result.failed;
    if (judgement.verdict == Verdict::errored) {
      result.verdict = Verdict::errored;
      result.judgement = judgement;
      return result;
    }
  } while (result.replays < limits.replays && RunClock::now() < end && !limits.stop.is_made());
  if (result.failed == result.replays) {
    result.verdict = kind;
  } else {
    const bool failed = result.failed > 0 || failed_otherwise;
    result.verdict = failed ? Verdict::flaky : result.judgement.verdict;
  }
  return result;
}

}  // namespace rankcheck::harness
