#include "cases/hardware/gate.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/search/runner.hpp"
#include "harness/suite/suite_file.hpp"

#include "cases/hardware/gate_verdicts.hpp"

namespace rankcheck::cases::hardware {

namespace {

using gpu::cuda::LinkResult;
using gpu::cuda::Method;
using harness::Finding;
using harness::Verdict;

/// The names of the phases, in the order of the enumerators.
constexpr std::array<std::string_view, 7> phase_names{
    "cuda", "nccl", "speed", "sanitizer", "suites", "device", "soak"};

/// The operation that findings of links name.
constexpr const char* link_operation = "link";

/// The reason of a link or device without a verdict, because the gate ended early.
constexpr const char* not_measured = "not measured: the run ended before it";
/// The reason of a soak that judged nothing.
constexpr const char* no_time = "no case was run: no time was left";
/// The reason of a part that was not run because the gate ended early.
constexpr const char* not_run = "not run: the run ended before it";

std::string link_name(int from, int to) {
  return from == to ? fmt::format("within {}", from) : fmt::format("{} to {}", from, to);
}

class Gate {
 public:
  Gate(const Options& options, const std::vector<Device>& devices, const Hooks& hooks)
      : options_(options), hooks_(hooks) {
    for (const Device& each : devices) gate_.devices.push_back({.device = each});
    const int count = static_cast<int>(devices.size());
    for (int from = 0; from < count; ++from) {
      for (int to = 0; to < count; ++to) {
        for (const Method method : {Method::copy, Method::load}) add_link(from, to, method);
      }
    }
    soak_probes_.resize(gate_.links.size());
  }

  GateReport run() {
    gate_.is_quick = options_.is_quick;
    measure_links();
    if (options_.is_quick) {
      leave_out_phases();
    } else {
      for (const PhaseRequest& part : options_.parts) run_part(part);
      soak();
    }
    return finish();
  }

 private:
  void add_link(int from, int to, Method method) {
    Link link{.from = from, .to = to, .method = method};
    harness::Unit& unit = link.finding.unit;
    unit.operation = link_operation;
    unit.algorithm = gpu::cuda::name(method);
    unit.backend = "cuda";
    unit.property = "carries_patterns";
    unit.require_all_cells = false;
    unit.variant = fmt::format("{}_to_{}", from, to);
    gate_.links.push_back(std::move(link));
  }

  /// Whether the gate must end now. Stays true after it became true.
  [[nodiscard]] bool is_over() {
    if (ended_early_.empty()) ended_early_ = hooks_.why_end();
    return !ended_early_.empty();
  }

  void measure_links() {
    // All fixed patterns, and as many random patterns. A quick gate has one random pattern.
    const std::int64_t random = options_.is_quick ? 1 : gpu::cuda::Pattern::fixed;
    for (Link& link : gate_.links) {
      if (is_over()) return;
      if (!probe(link,
                 {.method = link.method,
                  .seed = options_.seed,
                  .patterns = gpu::cuda::Pattern::fixed + random,
                  .repeats = options_.is_quick ? 1 : 4})) {
        continue;
      }
      // There may be hundreds of links, and a quick gate precedes the output of a job.
      if (options_.is_quick && link.finding.verdict == Verdict::passed) continue;
      hooks_.say(fmt::format("link {:<10} {}  {:<7}  {:>8.1f} GB/s  {}",
                             link_name(link.from, link.to),
                             gpu::cuda::name(link.method),
                             gpu::cuda::name(link.way),
                             link.gigabytes_per_s(),
                             harness::name(link.finding.verdict)));
    }
  }

  void leave_out_phases() {
    for (const std::string_view each : phase_names) {
      gate_.phases.push_back({.name = std::string(each),
                              .verdict = Verdict::skipped,
                              .reason = "left out: --quick only checks links and devices",
                              .is_left_out = true});
    }
  }

  /// Returns false if the gate was interrupted before the probe answered.
  bool probe(Link& link, const gpu::cuda::LinkProbe& probe) {
    ProbeOutcome outcome;
    const double begin_s = hooks_.now_s();
    try {
      outcome =
          hooks_.probe({.from = link.from, .to = link.to, .bytes = options_.bytes, .probe = probe});
    } catch (const harness::Interrupted&) {
      return false;
    }
    link.took_s += hooks_.now_s() - begin_s;
    const LinkResult& result = outcome.result;
    if (link.seconds.empty()) link.seconds = result.seconds;
    if (result.way != gpu::cuda::Way::unknown) link.way = result.way;
    link.volume += {.bytes_of_copy = result.bytes_of_copy,
                    .patterns = result.copies > 0 ? probe.patterns : 0,
                    .copies = result.copies,
                    .bytes = result.copies * result.bytes_of_copy,
                    .wrong_bytes = result.wrong_bytes};
    link.lost_sources += result.lost_sources;
    link.finding.cases += result.copies;
    link.finding.compared_bytes += result.copies * result.bytes_of_copy;
    judge(link, outcome);
    return true;
  }

  void run_part(const PhaseRequest& part) {
    if (is_over()) return;
    const Verdict verdict = take(part, ask(part));
    const std::string& reason = gate_.phases.back().reason;
    if (part.phase == Phase::device) {
      DeviceVerdict& alone = gate_.devices[spec::to_size(part.device)];
      worsen(alone.verdict, alone.reason, verdict, reason);
    } else if (gate_.devices.size() == 1 && harness::is_red(verdict)) {
      DeviceVerdict& only = gate_.devices.front();
      worsen(only.verdict, only.reason, verdict, reason);
    }
  }

  PhaseOutcome ask(const PhaseRequest& request) {
    PhaseOutcome outcome = hooks_.run(request);
    if (!outcome.ended_early.empty()) ended_early_ = outcome.ended_early;
    return outcome;
  }

  /// Whether the phase checks only what the suites and the devices check with more cases. Such a
  /// phase need not cover anything.
  static bool is_further(Phase phase) { return phase != Phase::suites && phase != Phase::device; }

  /// Returns the name of a phase in the report.
  static std::string title(const PhaseRequest& request) {
    std::string word(name(request.phase));
    if (request.phase == Phase::device) return fmt::format("{} {}", word, request.device);
    if (request.phase == Phase::nccl) {
      return fmt::format("{} {} rank{}", word, request.ranks, request.ranks == 1 ? "" : "s");
    }
    return word;
  }

  /// Adds a phase's findings to the report. A finding's name is unique in a report, so findings of
  /// all phases but the suites get a variant of their own.
  Verdict take(const PhaseRequest& request, PhaseOutcome outcome) {
    PhaseSummary summary{.name = title(request)};
    summary.reason = outcome.skipped + outcome.broken;
    std::string variant;
    if (request.phase != Phase::suites) variant = folder_of(request);
    std::replace(variant.begin(), variant.end(), '-', '_');
    if (!outcome.skipped.empty()) summary.verdict = Verdict::skipped;
    if (!outcome.broken.empty()) summary.verdict = Verdict::errored;
    // Paths that the machine does not support do not decide the verdict if other paths were judged.
    std::string unsupported;
    std::int64_t known = 0;
    for (Finding& finding : outcome.report.findings) {
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
        worsen(summary.verdict, summary.reason, finding.verdict, words_of(finding));
        summary.has_judged |= finding.verdict != Verdict::skipped;
      }
      gate_.failures += harness::is_red(finding) ? 1 : 0;
      gate_.report.findings.push_back(std::move(finding));
    }
    for (const Speed& each : outcome.speeds) {
      summary.has_judged |= each.failure.empty();
      if (!each.failure.empty()) {
        worsen(summary.verdict,
               summary.reason,
               Verdict::errored,
               fmt::format("{}: {}", each.measurement, each.failure));
      }
      gate_.speeds.push_back(each);
    }
    if (!outcome.ended_early.empty()) {
      worsen(summary.verdict,
             summary.reason,
             Verdict::skipped,
             "incomplete: the run ended before its end");
    } else if (!is_further(request.phase) &&
               outcome.report.ending == harness::name(harness::Ending::time_over)) {
      // The suite's own time limit ended it.
      is_cut_ = true;
      worsen(summary.verdict,
             summary.reason,
             Verdict::skipped,
             "incomplete: its time limit was reached");
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
    return summary.verdict;
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

  /// Removes missing coverage from a finding of a further phase, because the suites cover the same
  /// cells.
  static void forgive_coverage(Finding& finding) {
    const bool is_cut = is_skipped_for(harness::SkipReason::time_over, finding);
    if (!is_cut && !harness::lacks_coverage(finding)) return;
    finding.unit.require_all_cells = false;
    finding.missing_cells.clear();
    harness::judge_coverage(finding);
  }

  /// Sets the verdict of a phase that judged nothing although it was not skipped.
  static void judge_nothing(Phase phase,
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

  static bool is_skipped_for(harness::SkipReason reason, const Finding& finding) {
    return finding.verdict == Verdict::skipped && finding.reason == harness::name(reason);
  }

  static std::string words_of(const Finding& finding) {
    return fmt::format(
        "{}: {}",
        finding.verdict == Verdict::skipped ? finding.unit.backend : finding.unit.id(),
        finding.reason);
  }

  /// Alternates between probes of the links, with new patterns in every round, and suites. Goes on
  /// while there is time for both.
  void soak() {
    PhaseRequest request{.phase = Phase::soak};
    // The suites are one run that is resumed, so the last outcome contains all findings.
    PhaseOutcome suites{.skipped = no_time};
    bool has_begun = false;
    while (!is_over()) {
      const double budget_s = hooks_.soak_s();
      if (budget_s <= 0) break;
      has_begun = true;
      const double end_s = hooks_.now_s() + budget_s;
      soak_links(end_s - budget_s / 2);
      const double left_s = end_s - hooks_.now_s();
      if (is_over()) break;
      if (left_s <= 0) continue;
      request.budget_s += left_s;
      suites = ask(request);
    }
    if (has_begun) take(request, std::move(suites));
    // A gate whose soak judged nothing is incomplete: the next call continues it.
    const bool has_soaked = has_begun && gate_.phases.back().reason != no_time;
    if (!has_soaked && ended_early_.empty()) {
      ended_early_ = harness::name(harness::Ending::time_over);
    }
  }

  /// Probes one link after the other, round after round, until the time is over or no link answers
  /// any more. The seed decides which link comes first, since the time may not suffice for all
  /// links.
  void soak_links(double end_s) {
    const std::size_t count = gate_.links.size();
    for (std::size_t silent = 0; silent < count && !is_over() && hooks_.now_s() < end_s;) {
      const std::size_t chosen = (options_.seed % count + soaked_ % count) % count;
      const std::uint64_t round = 1 + soaked_ / count;
      ++soaked_;
      Link& link = gate_.links[chosen];
      // A link that crashed or hung is not probed again.
      if (link.finding.verdict != Verdict::passed && link.finding.verdict != Verdict::falsified) {
        ++silent;
        continue;
      }
      constexpr std::int64_t patterns = 16;
      if (probe(link,
                {.method = link.method,
                 .seed = options_.seed + round,
                 .first = gpu::cuda::Pattern::fixed,
                 .patterns = patterns,
                 .repeats = 4})) {
        ++soak_probes_[chosen];
      }
      silent = 0;
    }
    const auto [least, most] = std::minmax_element(soak_probes_.begin(), soak_probes_.end());
    hooks_.say(
        fmt::format("soak: each of {} links was probed {} to {} times", count, *least, *most));
  }

  [[nodiscard]] static bool is_measured(const Link& link) {
    return link.finding.cases > 0 || link.finding.verdict != Verdict::passed;
  }

  [[nodiscard]] bool was_run(const std::string& part) const {
    return std::any_of(gate_.phases.begin(), gate_.phases.end(), [&](const PhaseSummary& each) {
      return each.name == part && each.reason != not_run;
    });
  }

  /// Adds the parts that a gate that ended early did not run.
  void add_parts_not_run() {
    std::vector<PhaseRequest> all = options_.parts;
    all.push_back({.phase = Phase::soak});
    for (const PhaseRequest& each : all) {
      if (was_run(title(each))) continue;
      gate_.phases.push_back({.name = title(each), .verdict = Verdict::skipped, .reason = not_run});
    }
  }

  /// Removes the verdict of devices whose suites were not run because the gate ended early.
  void judge_devices_without_suites() {
    const bool is_alone = gate_.devices.size() == 1;
    for (int d = 0; d < static_cast<int>(gate_.devices.size()); ++d) {
      const PhaseRequest alone{.phase = is_alone ? Phase::suites : Phase::device, .device = d};
      if (was_run(title(alone))) continue;
      DeviceVerdict& device = gate_.devices[spec::to_size(d)];
      worsen(device.verdict, device.reason, Verdict::skipped, not_measured);
    }
  }

  GateReport finish() {
    for (Link& link : gate_.links) {
      if (is_measured(link)) continue;
      ++gate_.report.not_run;
      link.finding.verdict = Verdict::skipped;
      link.finding.reason = not_measured;
    }
    if (is_over() && !options_.is_quick) {
      add_parts_not_run();
      judge_devices_without_suites();
    }
    judge_devices(gate_);
    PhaseSummary links{.name = "links"};
    for (const Link& link : gate_.links) {
      worsen(links.verdict,
             links.reason,
             link.finding.verdict,
             fmt::format("{}: {}", link_name(link.from, link.to), link.finding.reason));
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
      return !each.has_judged && !each.is_left_out && each.name != name(Phase::sanitizer);
    });
    const bool is_whole = gate_.is_of_hardware() && !is_over() && !is_cut_ && !is_broken &&
                          !lacks_phase && !lacks_backend();
    return is_whole ? 0 : 2;
  }

  /// Whether a backend is missing or nothing was run on it.
  [[nodiscard]] bool lacks_backend() const {
    std::map<std::string, bool> has_run;
    for (const Finding& finding : gate_.report.findings) {
      if (finding.unit.operation == link_operation) continue;
      if (is_skipped_for(harness::SkipReason::backend_unavailable, finding)) return true;
      has_run[finding.unit.backend] |= finding.verdict != Verdict::skipped;
    }
    return std::any_of(
        has_run.begin(), has_run.end(), [](const auto& each) { return !each.second; });
  }

  const Options& options_;
  const Hooks& hooks_;
  GateReport gate_;
  /// Why the gate ends early. Empty while it goes on.
  std::string ended_early_;
  /// Whether a part that must cover everything had too little time.
  bool is_cut_ = false;
  /// The number of turns that links had in the soak, and the number of probes of each link.
  std::uint64_t soaked_ = 0;
  std::vector<int> soak_probes_;
};

}  // namespace

std::string_view name(Phase phase) {
  return phase_names[spec::to_size(phase)];
}

std::optional<Phase> phase_named(std::string_view wanted) {
  const auto found = std::find(phase_names.begin(), phase_names.end(), wanted);
  if (found == phase_names.end()) return std::nullopt;
  return static_cast<Phase>(found - phase_names.begin());
}

std::string folder_of(const PhaseRequest& request) {
  std::string word(name(request.phase));
  if (request.phase == Phase::device) return fmt::format("{}-{}", word, request.device);
  if (request.phase == Phase::nccl) return fmt::format("{}-{}", word, request.ranks);
  return word;
}

std::vector<double> Link::spread_s() const {
  if (seconds.empty()) return {};
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t tenth = sorted.size() / 10;
  return {sorted[tenth], sorted[sorted.size() / 2], sorted[sorted.size() - 1 - tenth]};
}

double Link::gigabytes_per_s() const {
  const std::vector<double> spread = spread_s();
  if (spread.empty() || spread[1] <= 0) return 0;
  return static_cast<double>(volume.bytes_of_copy) / spread[1] / 1e9;
}

bool GateReport::is_of_hardware() const {
  return std::all_of(devices.begin(), devices.end(), [](const DeviceVerdict& each) {
    return each.device.is_hardware();
  });
}

GateReport run_gate(const Options& options,
                    const std::vector<Device>& devices,
                    const Hooks& hooks) {
  return Gate(options, devices, hooks).run();
}

}  // namespace rankcheck::cases::hardware
