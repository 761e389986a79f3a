#include "harness/search/known_cases.hpp"

#include <algorithm>
#include <utility>

#include "harness/case/family.hpp"
#include "harness/check/operation.hpp"
#include "harness/search/shrink.hpp"

namespace rankcheck::harness {

KnownCases::KnownCases(const Unit& unit, const std::vector<const KnownDefect*>& defects)
    : unit_(unit), family_(find_family(unit.operation)) {
  for (const KnownDefect* const each : defects) {
    KnownCount count;
    count.id = each->id;
    entries_.push_back(
        {.defect = each, .is_about_unit = each->is_about(unit), .count = std::move(count)});
  }
}

bool KnownCases::covers_stage(const Entry& entry, const std::vector<Case>& stages) const {
  return std::ranges::any_of(stages, [&](const Case& stage) {
    Unit ran = unit_;
    ran.operation = stage.operation;
    ran.algorithm = stage.algorithm;
    return entry.defect->is_about(ran) && entry.defect->covers(stage, find_family(stage.operation));
  });
}

bool KnownCases::covers_stages(const std::vector<Case>& stages, const Judgement& failure) const {
  return std::ranges::any_of(entries_, [&](const Entry& each) {
    return each.defect->covers(failure.verdict, failure.symptom) && covers_stage(each, stages);
  });
}

bool KnownCases::leaves_out(const Catalogue& catalogue, const Case& c) {
  std::vector<Case> stages;
  const auto found = std::ranges::find_if(entries_, [&](const Entry& each) {
    if (each.stops < known_restarts_max) return false;
    if (stages.empty()) stages = program_of(catalogue, c);
    return covers(each, c) || covers_stage(each, stages);
  });
  if (found == entries_.end()) return false;
  ++found->count.left_out;
  return true;
}

bool KnownCases::may_cover(const Case& c, const Judgement& failure) const {
  return std::ranges::any_of(entries_, [&](const Entry& each) {
    const KnownDefect& defect = *each.defect;
    return (defect.covers(failure.verdict, failure.symptom) ||
            defect.covers(Verdict::flaky, failure.symptom)) &&
           covers(each, c);
  });
}

bool KnownCases::needs_replays(const Case& c, const Judgement& failure) const {
  return may_cover(c, failure) && std::ranges::none_of(entries_, [&](const Entry& each) {
           return each.defect->covers(failure.verdict, failure.symptom) && covers(each, c);
         });
}

bool KnownCases::may_damage() const {
  return std::ranges::any_of(entries_,
                             [](const Entry& each) { return each.defect->damages_memory(); });
}

bool KnownCases::may_have_damaged(const Case& c, const std::vector<Case>& stages) const {
  return std::ranges::any_of(entries_, [&](const Entry& each) {
    return each.defect->damages_memory() && (covers(each, c) || covers_stage(each, stages));
  });
}

bool KnownCases::count(const Case& c,
                       const std::vector<Case>& stages,
                       const Judgement& judgement,
                       Verdict verdict) {
  bool is_known = false;
  for (Entry& each : entries_) {
    const bool is_in_stage = is_failure(verdict) && covers_stage(each, stages);
    if (!is_in_stage && !covers(each, c)) continue;
    KnownCount& count = each.count;
    ++count.covered;
    // Only the first entry that covers a failure has it.
    if (is_known || !is_failure(verdict)) continue;
    if (!each.defect->covers(verdict, judgement.symptom)) continue;
    is_known = true;
    ++count.failed;
    // Confirming that a case is flaky restarts the backend, too.
    if (verdict != Verdict::falsified) ++each.stops;
    if (count.minimal && !is_simpler(c, *count.minimal)) continue;
    count.minimal = c;
    count.verdict = verdict;
    count.reason = judgement.reason;
    count.wrong = judgement.wrong;
    count.wrong_count = judgement.wrong_count;
  }
  return is_known;
}

std::vector<KnownCount> KnownCases::counts() const {
  std::vector<KnownCount> counts;
  for (const Entry& each : entries_) {
    if (each.count.covered > 0) counts.push_back(each.count);
  }
  return counts;
}

}  // namespace rankcheck::harness
