#include "harness/report/known_report.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/table.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> state_names{
    "failing", "passing", "unmatched", "not_applied", "not_checked"};

/// The day on which a run began, as 2026-12-31.
std::string day_of(const ordered_json& environment) {
  const auto started = environment.find("started");
  if (started == environment.end() || !started->is_string()) return {};
  return started->get<std::string>().substr(0, 10);
}

/// Whether a unit was run, so that its finding can say something about defects.
bool was_run(const Finding& finding) {
  return finding.cases > 0 ||
         (finding.verdict != Verdict::skipped && finding.verdict != Verdict::errored);
}

KnownState state_of(const KnownStatus& status, bool has_run, bool is_absent, bool is_whole) {
  if (status.failed > 0) return KnownState::failing;
  if (!is_whole) return KnownState::not_checked;
  if (status.covered > 0) return KnownState::passing;
  if (has_run) return KnownState::unmatched;
  if (!status.not_applied.empty()) return KnownState::not_applied;
  return is_absent ? KnownState::not_checked : KnownState::unmatched;
}

KnownStatus status_of(const KnownDefect& defect,
                      const ordered_json& environment,
                      std::span<const Finding> findings,
                      bool is_whole) {
  KnownStatus status{.defect = defect};
  const std::string day = day_of(environment);
  status.is_expired = !defect.expires.empty() && !day.empty() && defect.expires < day;
  bool has_run = false;
  bool is_absent = false;
  for (const Finding& finding : findings) {
    const Unit& unit = finding.unit;
    if (!defect.is_about(unit)) continue;
    if (!was_run(finding)) {
      is_absent = true;
      continue;
    }
    if (std::string why = why_not_applied(defect, environment, unit.tested()); !why.empty()) {
      status.not_applied[unit.tested()] = std::move(why);
      continue;
    }
    has_run = true;
    // Another failure ended the unit before all of its cases ran.
    if (is_failure(finding.verdict) && !finding.is_known) is_whole = false;
    for (const KnownCount& each : finding.known) {
      if (each.id != defect.id) continue;
      status.units += each.failed > 0 ? 1 : 0;
      status.covered += each.covered;
      status.failed += each.failed;
      status.left_out += each.left_out;
    }
  }
  status.state = state_of(status, has_run, is_absent, is_whole);
  return status;
}

/// What the run says about the defect.
std::string said(const KnownStatus& status) {
  switch (status.state) {
    case KnownState::failing:
      return fmt::format(
          "failed in {} of {} ({}{})",
          grouped(status.failed),
          counted(status.covered, "case", "cases"),
          counted(status.units, "unit", "units"),
          status.left_out > 0
              ? fmt::format(", {} left out", counted(status.left_out, "case", "cases"))
              : "");
    case KnownState::passing:
      return fmt::format(
          "passed in {} that it covers; it may be mended",
          status.covered == 1 ? "the case" : fmt::format("all {} cases", grouped(status.covered)));
    case KnownState::unmatched:
      return "covers no case of this run";
    case KnownState::not_applied:
      return "is not applied";
    case KnownState::not_checked:
      return status.covered == 0 ? "was not checked"
                                 : fmt::format(
                                       "passed in {}, but not all of its units were run "
                                       "to their end",
                                       counted(status.covered, "case", "cases"));
  }
  return {};
}

}  // namespace

std::string_view name(KnownState state) {
  return state_names[spec::to_size(state)];
}

std::vector<KnownStatus> known_statuses(const std::vector<KnownDefect>& defects,
                                        const ordered_json& environment,
                                        std::span<const Finding> findings,
                                        bool is_whole) {
  std::vector<KnownStatus> all;
  for (const KnownDefect& each : defects) {
    all.push_back(status_of(each, environment, findings, is_whole));
  }
  return all;
}

std::string stale_text(std::span<const KnownStatus> all) {
  const auto stale =
      std::count_if(all.begin(), all.end(), [](const auto& each) { return each.is_stale(); });
  if (stale == 0) return {};
  return counted(stale, "known defect is", "known defects are") + " stale";
}

ordered_json to_json(const KnownStatus& status) {
  ordered_json out{{"id", status.defect.id}, {"state", name(status.state)}};
  if (status.is_expired) out["is_expired"] = true;
  out["units"] = status.units;
  out["covered"] = status.covered;
  out["failed"] = status.failed;
  if (status.left_out > 0) out["left_out"] = status.left_out;
  if (!status.not_applied.empty()) out["not_applied"] = status.not_applied;
  out["reason"] = status.defect.reason;
  if (!status.defect.link.empty()) out["link"] = status.defect.link;
  if (!status.defect.expires.empty()) out["expires"] = status.defect.expires;
  return out;
}

std::string to_text(const KnownStatus& status) {
  std::string text = fmt::format("known {}: {}", status.defect.id, said(status));
  if (status.is_expired) text += ", and expired on " + status.defect.expires;
  for (const auto& [tested, why] : status.not_applied) text += fmt::format("; {} {}", tested, why);
  text += ": " + status.defect.reason;
  if (!status.defect.link.empty()) text += "; " + status.defect.link;
  return printable(text);
}

}  // namespace rankcheck::harness
