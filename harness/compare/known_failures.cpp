#include "harness/compare/known_failures.hpp"

#include <optional>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/case/case.hpp"
#include "harness/case/family.hpp"

namespace rankcheck::harness::compare {

namespace {

Unit unit_of(const RunFinding& finding) {
  Unit unit;
  unit.operation = finding.operation;
  unit.algorithm = finding.algorithm;
  unit.backend = finding.backend;
  unit.property = finding.property;
  if (finding.tested != finding.backend) unit.subject = finding.tested;
  return unit;
}

/// The case of a failure. Empty if there is none, or if this version cannot read it.
std::optional<Case> case_of(const RunFinding& finding) {
  if (finding.minimal.is_null()) return {};
  try {
    return case_from_json(finding.minimal);
  } catch (const BadInput&) {
    return {};
  }
}

}  // namespace

void mark_known(RunReport& run, const std::vector<KnownDefect>& defects) {
  for (auto& [id, finding] : run.findings) {
    if (!is_failure(finding.verdict) || finding.is_known) continue;
    const std::optional<Case> minimal = case_of(finding);
    if (!minimal) continue;
    const Family* const family = find_family(finding.operation);
    const Unit unit = unit_of(finding);
    for (const KnownDefect* each : known_of(defects, run.environment, unit)) {
      if (!each->is_about(unit) || !each->covers(finding.verdict, finding.symptom) ||
          !each->covers(*minimal, family))
        continue;
      finding.is_known = true;
      finding.may_hide_others = true;
      finding.known.push_back({.id = each->id, .covered = 1, .failed = 1});
    }
  }
}

std::vector<KnownStatus> known_statuses(const RunReport& run,
                                        const std::vector<KnownDefect>& defects) {
  std::vector<Finding> findings;
  for (const auto& [id, each] : run.findings) {
    Finding finding;
    finding.unit = unit_of(each);
    finding.verdict = each.verdict;
    finding.cases = each.cases;
    finding.is_known = each.is_known;
    for (const RunKnown& known : each.known) {
      finding.known.push_back({.id = known.id, .covered = known.covered, .failed = known.failed});
    }
    findings.push_back(std::move(finding));
  }
  return harness::known_statuses(defects, run.environment, findings, run.ending == "completed");
}

std::string known_line(const KnownStatus& status) {
  std::string text = (status.is_stale() ? "stale: " : "") + status.defect.id + ": ";
  switch (status.state) {
    case KnownState::failing:
      text += counted(status.units, "unit fails as known", "units fail as known");
      break;
    case KnownState::not_applied:
      text += "is not applied";
      break;
    case KnownState::not_checked:
      text += "was not checked";
      break;
    case KnownState::passing:
    case KnownState::unmatched:
      text += "no failure is as it says";
      break;
  }
  if (status.is_expired) text += ", and it expired on " + status.defect.expires;
  for (const auto& [tested, why] : status.not_applied) text += fmt::format("; {} {}", tested, why);
  text += ": " + status.defect.reason;
  if (!status.defect.link.empty()) text += "; " + status.defect.link;
  return printable(text);
}

}  // namespace rankcheck::harness::compare
