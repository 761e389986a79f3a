#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/table.hpp"
#include "harness/search/runner.hpp"
#include "harness/suite/suite_file.hpp"

#include "cases/hardware/gate.hpp"

namespace rankcheck::cases::hardware {

namespace {

using gpu::cuda::LinkResult;
using harness::Finding;
using harness::Verdict;

/// The reason of a link or device without a verdict, because the gate ended early.
constexpr const char* not_measured = "not measured: the run ended before it";
/// The reason of a soak that judged nothing.
constexpr const char* no_time = "no case was run: no time was left";
/// The reason of a part that was not run because the gate ended early.
constexpr const char* not_run = "not run: the run ended before it";

/// Returns the rank of a verdict. The worst verdict of the parts is the verdict of the whole.
int severity(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return 0;
    case Verdict::skipped:
      return 1;
    case Verdict::errored:
      return 2;
    default:
      return 3;
  }
}

/// Replaces a verdict and its reason if the other verdict is worse.
template <class Judged>
void worsen(Judged& judged, Verdict other, const std::string& why) {
  if (severity(other) <= severity(judged.verdict)) return;
  judged.verdict = other;
  judged.reason = why;
}

/// Returns the first wrong word as an element of a finding.
harness::WrongElement element_of(const Link& link, const LinkResult& result) {
  return {.rank = link.to,
          .index = result.first_wrong->index,
          .expected = fmt::format("{:#018x}", result.first_wrong->expected),
          .got = fmt::format("{:#018x}", result.first_wrong->got),
          .error = 1,
          .bound = 0,
          .decoded = fmt::format("pattern {}", result.first_wrong_pattern)};
}

/// Judges a link by the outcome of one more probe.
void judge(Link& link, const ProbeOutcome& outcome) {
  Finding& finding = link.finding;
  const LinkResult& result = outcome.result;
  if (outcome.verdict == Verdict::skipped) {
    worsen(
        finding, outcome.verdict, std::string(harness::name(harness::SkipReason::not_supported)));
  } else if (outcome.verdict != Verdict::passed) {
    worsen(finding, outcome.verdict, outcome.reason);
  } else if (result.copies == 0 || result.bytes_of_copy == 0) {
    worsen(finding, Verdict::vacuous, "nothing was compared");
  } else if (result.wrong_copies > 0) {
    worsen(finding,
           Verdict::falsified,
           fmt::format("{} of {} copies are wrong, {} bytes{}",
                       result.wrong_copies,
                       result.copies,
                       result.wrong_bytes,
                       result.lost_sources > 0 ? "; the source itself changed" : ""));
    finding.wrong_count += result.wrong_bytes;
    if (result.first_wrong && finding.wrong.size() < harness::wrong_elements_max) {
      finding.wrong.push_back(element_of(link, result));
    }
  } else if (!result.impossible_time.empty()) {
    // The data is right, but its speed is unknown.
    worsen(finding, Verdict::errored, result.impossible_time);
  }
}

/// Blames the device that all wrong links have in common, if there are several pairs of devices
/// and exactly one such device.
void blame(const std::vector<const Link*>& wrong, std::vector<DeviceVerdict>& devices) {
  std::set<std::pair<int, int>> pairs;
  for (const Link* each : wrong) pairs.insert({each->from, each->to});
  if (pairs.size() < 2) return;
  std::vector<int> common;
  for (int d = 0; d < static_cast<int>(devices.size()); ++d) {
    const bool touches_all = std::all_of(pairs.begin(), pairs.end(), [d](const auto& pair) {
      return pair.first == d || pair.second == d;
    });
    if (touches_all) common.push_back(d);
  }
  if (common.size() != 1) return;
  worsen(devices[spec::to_size(common.front())],
         Verdict::falsified,
         fmt::format("all {} wrong links start or end at this device", pairs.size()));
}

/// Judges the devices by their links, and adds up what was tested.
void judge_devices(GateReport& gate) {
  std::vector<const Link*> wrong;
  for (const Link& link : gate.links) {
    gate.volume += link.volume;
    const auto verdict = link.finding.verdict;
    if (link.from == link.to) {
      DeviceVerdict& own = gate.devices[spec::to_size(link.from)];
      own.volume += link.volume;
      worsen(own, verdict, "its memory: " + link.finding.reason);
    } else if (harness::is_red(verdict)) {
      wrong.push_back(&link);
    }
    if (link.lost_sources > 0) {
      worsen(gate.devices[spec::to_size(link.from)],
             Verdict::falsified,
             fmt::format("lost data that was written to it {} times", link.lost_sources));
    }
  }
  blame(wrong, gate.devices);
  for (DeviceVerdict& each : gate.devices) {
    if (each.device.is_hardware()) continue;
    worsen(each, Verdict::skipped, "not hardware: " + each.device.memory);
  }
}

bool is_skipped_for(harness::SkipReason reason, const Finding& finding) {
  return finding.verdict == Verdict::skipped && finding.reason == harness::name(reason);
}

std::string words_of(const Finding& finding) {
  return fmt::format("{}: {}",
                     finding.verdict == Verdict::skipped ? finding.unit.backend : finding.unit.id(),
                     finding.reason);
}

/// Whether the phase checks only what the suites and the devices check with more cases. Such a
/// phase need not cover anything.
bool is_further(Phase phase) {
  return phase != Phase::suites && phase != Phase::device;
}

/// Returns the name of a phase in the report.
std::string title_of(const PhaseRequest& request) {
  std::string title = folder_of(request);
  std::replace(title.begin(), title.end(), '-', ' ');
  if (request.phase == Phase::nccl) title += request.number == 1 ? " rank" : " ranks";
  return title;
}

/// Removes missing coverage from a finding of a further phase, because the suites cover the same
/// cells.
void forgive_coverage(Finding& finding) {
  const bool is_cut = is_skipped_for(harness::SkipReason::time_over, finding);
  if (!is_cut && !harness::lacks_coverage(finding)) return;
  finding.unit.require_all_cells = false;
  finding.missing_cells.clear();
  harness::judge_coverage(finding);
}

/// Sets the verdict of a phase that judged nothing although it was not skipped.
void judge_nothing(Phase phase,
                   const harness::Report& report,
                   const std::string& unsupported,
                   PhaseSummary& summary) {
  const bool had_no_time = phase == Phase::soak && report.ending != "completed";
  summary.verdict = Verdict::skipped;
  summary.reason = had_no_time ? no_time : unsupported;
  if (!summary.reason.empty()) return;
  summary.verdict = Verdict::vacuous;
  summary.reason = "no case was run";
}

/// Judges a gate, one phase after the other.
class Judge {
 public:
  Judge(const std::vector<Device>& devices, std::vector<Link> links, std::string ended_early)
      : ended_early_(std::move(ended_early)) {
    for (const Device& each : devices) gate_.devices.push_back({.device = each});
    gate_.links = std::move(links);
  }

  void leave_out_phases() {
    gate_.is_quick = true;
    for (const std::string_view each : phase_names) {
      gate_.phases.push_back({.name = std::string(each),
                              .verdict = Verdict::skipped,
                              .reason = "left out: --quick only checks links and devices",
                              .is_left_out = true});
    }
  }

  /// Takes a phase between the links and the soak. `outcome` is null if the phase was not run.
  void take_part(const PhaseRequest& request, const PhaseOutcome* outcome) {
    take(request, outcome);
    const PhaseSummary& part = gate_.phases.back();
    if (request.phase == Phase::device && outcome != nullptr) {
      worsen(gate_.devices[spec::to_size(request.number)], part.verdict, part.reason);
    } else if (gate_.devices.size() == 1 && harness::is_red(part.verdict)) {
      worsen(gate_.devices.front(), part.verdict, part.reason);
    }
  }

  /// Takes the soak, of which only the links may have had time.
  void take_soak(const PhaseOutcome* suites, bool has_soaked_links) {
    const PhaseOutcome links_only{.skipped = no_time};
    take({.phase = Phase::soak}, suites == nullptr && has_soaked_links ? &links_only : suites);
    const std::string& reason = gate_.phases.back().reason;
    const bool has_soaked = reason != no_time && reason != not_run;
    // A gate whose soak judged nothing is incomplete: the next call continues it.
    if (!has_soaked && ended_early_.empty()) {
      ended_early_ = harness::name(harness::Ending::time_over);
    }
  }

  [[nodiscard]] bool is_over() const { return !ended_early_.empty(); }

  /// Removes the verdict of a device whose suites were not run because the gate ended early.
  void leave_out_device(std::size_t number) {
    worsen(gate_.devices[number], Verdict::skipped, not_measured);
  }

  [[nodiscard]] GateReport finish() {
    for (Link& link : gate_.links) {
      if (link.is_measured()) continue;
      ++gate_.report.not_run;
      link.finding.verdict = Verdict::skipped;
      link.finding.reason = not_measured;
    }
    judge_devices(gate_);
    PhaseSummary links{.name = "links"};
    for (const Link& link : gate_.links) {
      worsen(links, link.finding.verdict, fmt::format("{}: {}", link.name(), link.finding.reason));
      links.cases += link.volume.copies;
      links.compared_bytes += link.volume.bytes;
      links.has_judged |= link.finding.verdict != Verdict::skipped;
      note_duration(link.finding, link.took_s);
      if (link.finding.reason != not_measured) gate_.report.findings.push_back(link.finding);
    }
    gate_.phases.insert(gate_.phases.begin(), links);
    if (is_over()) gate_.report.ending = ended_early_;
    harness::sort_findings(gate_.report.findings);
    gate_.report.status_beyond_findings = status_beyond_findings();
    gate_.status = exit_status(gate_.report);
    return std::move(gate_);
  }

 private:
  /// Adds a phase's findings to the report. A finding's name is unique in a report, so findings of
  /// all phases but the suites get a variant of their own.
  void take(const PhaseRequest& request, const PhaseOutcome* found) {
    const PhaseOutcome none{.skipped = not_run};
    const PhaseOutcome& outcome = found == nullptr ? none : *found;
    PhaseSummary summary{.name = title_of(request), .reason = outcome.skipped + outcome.broken};
    std::string variant;
    if (request.phase != Phase::suites) variant = folder_of(request);
    std::replace(variant.begin(), variant.end(), '-', '_');
    if (!outcome.skipped.empty()) summary.verdict = Verdict::skipped;
    if (!outcome.broken.empty()) summary.verdict = Verdict::errored;
    // Paths that the machine does not support do not decide the verdict if other paths were judged.
    std::string unsupported;
    std::int64_t known = 0;
    for (Finding finding : outcome.report.findings) {
      if (is_further(request.phase)) forgive_coverage(finding);
      // The finding compared nothing. The suites judge the same unit with more cases.
      if (is_further(request.phase) && harness::lacks_coverage(finding)) continue;
      summary.cases += finding.cases;
      summary.compared_bytes += finding.compared_bytes;
      rename(outcome.report, variant, finding);
      if (is_skipped_for(harness::SkipReason::not_supported, finding)) {
        if (unsupported.empty()) unsupported = words_of(finding);
      } else if (finding.is_known) {
        ++known;
        summary.has_judged = true;
      } else {
        worsen(summary, finding.verdict, words_of(finding));
        summary.has_judged |= finding.verdict != Verdict::skipped;
      }
      gate_.failures += harness::is_red(finding) ? 1 : 0;
      gate_.report.findings.push_back(std::move(finding));
    }
    for (const Speed& each : outcome.speeds) {
      summary.has_judged |= each.failure.empty();
      if (!each.failure.empty()) {
        worsen(summary, Verdict::errored, fmt::format("{}: {}", each.measurement, each.failure));
      }
      gate_.speeds.push_back(each);
    }
    if (!outcome.ended_early.empty()) {
      worsen(summary, Verdict::skipped, "incomplete: the run ended before its end");
    } else if (!is_further(request.phase) &&
               outcome.report.ending == harness::name(harness::Ending::time_over)) {
      // The suite's own time limit ended it.
      is_cut_ = true;
      worsen(summary, Verdict::skipped, "incomplete: its time limit was reached");
    } else if (summary.verdict == Verdict::passed && !summary.has_judged) {
      judge_nothing(request.phase, outcome.report, unsupported, summary);
    }
    if (summary.verdict == Verdict::passed && known > 0) {
      summary.reason = harness::counted(known, "check", "checks") + " failed only as known";
    }
    gate_.known_failures += known;
    if (!is_further(request.phase)) gate_.report.not_run += outcome.report.not_run;
    gate_.cases += summary.cases;
    gate_.phases.push_back(summary);
  }

  /// Gives a finding of a phase's report a variant of its own, if there is one, and notes its time.
  void rename(const harness::Report& report, const std::string& variant, Finding& finding) {
    const auto durations = report.environment.find("durations_s");
    const double took_s =
        durations == report.environment.end() ? 0 : durations->value(finding.unit.id(), 0.0);
    if (!variant.empty()) {
      auto& own = finding.unit.variant;
      if (!own.empty()) own += '_';
      own += variant;
    }
    note_duration(finding, took_s);
  }

  /// Notes the seconds that a unit or a link took. 0 if nobody knows.
  void note_duration(const Finding& finding, double seconds) {
    if (seconds > 0) gate_.report.environment["durations_s"][finding.unit.id()] = seconds;
  }

  /// Returns 0 only if nothing failed and everything could be run. Returns 1 for failures and 2 if
  /// something could not be run.
  [[nodiscard]] int status_beyond_findings() {
    const auto any = [](const auto& all, auto holds) {
      return std::any_of(all.begin(), all.end(), holds);
    };
    const auto is_red = [](const auto& each) { return harness::is_red(each.verdict); };
    if (any(gate_.devices, is_red) || any(gate_.phases, is_red)) return 1;
    const bool is_broken = any(
        gate_.phases, [](const PhaseSummary& each) { return each.verdict == Verdict::errored; });
    const bool lacks_phase = any(gate_.phases, [](const PhaseSummary& each) {
      return !each.has_judged && !each.is_left_out &&
             each.name != title_of({.phase = Phase::sanitizer});
    });
    const bool is_whole = gate_.is_of_hardware() && !is_over() && !is_cut_ && !is_broken &&
                          !lacks_phase && !lacks_backend();
    return is_whole ? 0 : 2;
  }

  /// Whether a backend is missing or nothing was run on it.
  [[nodiscard]] bool lacks_backend() const {
    std::map<std::string, bool> has_run;
    for (const Finding& finding : gate_.report.findings) {
      if (finding.unit.operation == "link") continue;
      if (is_skipped_for(harness::SkipReason::backend_unavailable, finding)) return true;
      has_run[finding.unit.backend] |= finding.verdict != Verdict::skipped;
    }
    return std::any_of(
        has_run.begin(), has_run.end(), [](const auto& each) { return !each.second; });
  }

  GateReport gate_;
  /// Why the gate ended early. Empty if it did not.
  std::string ended_early_;
  /// Whether a part that must cover everything had too little time.
  bool is_cut_ = false;
};

}  // namespace

void Link::add(const ProbeAnswer& answer) {
  const LinkResult& result = answer.outcome.result;
  took_s += answer.took_s;
  if (seconds.empty()) seconds = result.seconds;
  if (result.way != gpu::cuda::Way::unknown) way = result.way;
  volume += {.bytes_of_copy = result.bytes_of_copy,
             .patterns = result.copies > 0 ? answer.request.probe.patterns : 0,
             .copies = result.copies,
             .bytes = result.copies * result.bytes_of_copy,
             .wrong_bytes = result.wrong_bytes};
  lost_sources += result.lost_sources;
  finding.cases += result.copies;
  finding.compared_bytes += result.copies * result.bytes_of_copy;
  judge(*this, answer.outcome);
}

GateReport Gate::report(const std::string& ended_early) const {
  Judge judge(devices_, links_, ended_early);
  if (options_.is_quick) {
    judge.leave_out_phases();
    return judge.finish();
  }
  for (const PhaseRequest& each : options_.parts) judge.take_part(each, find(each));
  judge.take_soak(find({.phase = Phase::soak}), soak_turns_ > 0);
  for (std::size_t d = 0; judge.is_over() && d < devices_.size(); ++d) {
    const Phase suites = devices_.size() == 1 ? Phase::suites : Phase::device;
    if (find({.phase = suites, .number = static_cast<int>(d)}) == nullptr) {
      judge.leave_out_device(d);
    }
  }
  return judge.finish();
}

}  // namespace rankcheck::cases::hardware
