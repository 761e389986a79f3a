#include "cases/hardware/gate.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "harness/suite_file.hpp"

namespace rankcheck::cases::hardware {

namespace {

using gpu::cuda::LinkResult;
using gpu::cuda::Method;
using harness::Finding;
using harness::Verdict;

/// Orders verdicts: of several, the worst is that of the whole.
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

/// Keeps the worse of two verdicts with its reason, the first of equal ones.
void worsen(Verdict& verdict, std::string& reason, Verdict other, const std::string& why) {
  if (severity(other) <= severity(verdict)) return;
  verdict = other;
  reason = why;
}

/// What a link's findings name as their operation.
constexpr const char* link_operation = "link";

/// What ended the run before its turn leaves a link or a device with no verdict of its own.
constexpr const char* not_measured = "not measured: the run ended before";

std::string link_name(int from, int to) {
  return from == to ? fmt::format("within {}", from) : fmt::format("{} to {}", from, to);
}

/// What a first wrong word says.
harness::WrongElement element_of(const Link& link, const LinkResult& result) {
  return {.rank = link.to,
          .index = result.first_wrong->index,
          .expected = fmt::format("{:#018x}", result.first_wrong->expected),
          .got = fmt::format("{:#018x}", result.first_wrong->got),
          .error = 1,
          .bound = 0,
          .decoded = fmt::format("pattern {}", result.first_wrong_pattern)};
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

  GateReport run(const std::string& why_no_device) {
    if (gate_.devices.empty()) {
      run_phase({.phase = Phase::suites});
      for (const char* part : {"links", "soak", "sanitizer"}) {
        gate_.phases.push_back(
            {.name = part, .verdict = Verdict::skipped, .reason = why_no_device});
      }
      return finish();
    }
    measure_links();
    const Verdict suites = run_phase({.phase = Phase::suites});
    if (gate_.devices.size() == 1 && harness::is_red(suites)) {
      DeviceVerdict& only = gate_.devices.front();
      worsen(only.verdict, only.reason, suites, gate_.phases.back().reason);
    }
    for (int d = 0; d < static_cast<int>(gate_.devices.size()); ++d) run_device(d);
    run_phase({.phase = Phase::sanitizer}, "sanitizer");
    soak();
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

  [[nodiscard]] bool is_over() const { return interrupted_ || hooks_.interrupted(); }

  void measure_links() {
    // All fixed patterns and as many random ones.
    constexpr std::int64_t patterns = 2 * gpu::cuda::Pattern::fixed;
    for (Link& link : gate_.links) {
      if (is_over()) return;
      probe(link,
            {.method = link.method, .seed = options_.seed, .patterns = patterns, .repeats = 4});
      hooks_.say(fmt::format("link {:<10} {}  {:<7}  {:>8.1f} GB/s  {}",
                             link_name(link.from, link.to),
                             gpu::cuda::name(link.method),
                             gpu::cuda::name(link.way),
                             link.gigabytes_per_s(),
                             harness::name(link.finding.verdict)));
    }
  }

  void probe(Link& link, const gpu::cuda::LinkProbe& probe) {
    const ProbeOutcome outcome =
        hooks_.probe({.from = link.from, .to = link.to, .bytes = options_.bytes, .probe = probe});
    const LinkResult& result = outcome.result;
    if (link.seconds.empty()) link.seconds = result.seconds;
    if (result.way != gpu::cuda::Way::unknown) link.way = result.way;
    link.exposure += {.bytes_of_copy = result.bytes_of_copy,
                      .patterns = result.copies > 0 ? probe.patterns : 0,
                      .copies = result.copies,
                      .bytes = result.copies * result.bytes_of_copy,
                      .wrong_bytes = result.wrong_bytes};
    link.lost_sources += result.lost_sources;
    link.finding.cases += result.copies;
    link.finding.compared_bytes += result.copies * result.bytes_of_copy;
    judge(link, outcome);
  }

  static void judge(Link& link, const ProbeOutcome& outcome) {
    Finding& finding = link.finding;
    const LinkResult& result = outcome.result;
    const auto find = [&](Verdict verdict, const std::string& why) {
      worsen(finding.verdict, finding.reason, verdict, why);
    };
    if (outcome.verdict == Verdict::skipped) {
      find(outcome.verdict, std::string(harness::name(harness::SkipReason::not_supported)));
    } else if (outcome.verdict != Verdict::passed) {
      find(outcome.verdict, outcome.reason);
    } else if (result.copies == 0 || result.bytes_of_copy == 0) {
      find(Verdict::vacuous, "nothing was compared");
    } else if (result.wrong_copies > 0) {
      find(Verdict::falsified,
           fmt::format("{} of {} copies arrived wrong, {} bytes{}",
                       result.wrong_copies,
                       result.copies,
                       result.wrong_bytes,
                       result.lost_sources > 0 ? "; the source itself had changed" : ""));
      finding.wrong_count += result.wrong_bytes;
      if (result.first_wrong && finding.wrong.size() < harness::wrong_elements_max) {
        finding.wrong.push_back(element_of(link, result));
      }
    } else if (!result.impossible_time.empty()) {
      // What arrived is right, but nobody knows how fast.
      find(Verdict::errored, result.impossible_time);
    }
  }

  /// Runs suites and takes their findings over.
  Verdict run_phase(const PhaseRequest& request, const std::string& variant = {}) {
    if (is_over()) return Verdict::skipped;
    return take(request, ask(request), variant);
  }

  PhaseOutcome ask(const PhaseRequest& request) {
    PhaseOutcome outcome = hooks_.run(request);
    interrupted_ = outcome.status >= 128;
    return outcome;
  }

  /// Takes a phase's findings over, under names of their own where a variant is given.
  Verdict take(const PhaseRequest& request, PhaseOutcome outcome, const std::string& variant) {
    PhaseSummary summary{.name = std::string(name(request.phase))};
    if (request.phase == Phase::device) summary.name += fmt::format(" {}", request.device);
    summary.reason = outcome.skipped + outcome.broken;
    const bool is_further = request.phase == Phase::soak || request.phase == Phase::sanitizer;
    if (!outcome.skipped.empty()) summary.verdict = Verdict::skipped;
    if (!outcome.broken.empty()) summary.verdict = Verdict::errored;
    // Paths that this machine does not have say nothing about those that it has.
    std::string unsupported;
    for (Finding& finding : outcome.report.findings) {
      if (is_further) forgive_coverage(finding);
      // Nothing was compared, which is of no weight beside the suites.
      if (is_further && harness::lacks_coverage(finding)) continue;
      summary.cases += finding.cases;
      summary.compared_bytes += finding.compared_bytes;
      if (!variant.empty()) {
        auto& own = finding.unit.variant;
        own = own.empty() ? variant : own + '_' + variant;
      }
      if (is_skipped_for(harness::SkipReason::not_supported, finding)) {
        if (unsupported.empty()) unsupported = words_of(finding);
      } else {
        worsen(summary.verdict, summary.reason, finding.verdict, words_of(finding));
        summary.has_judged |= finding.verdict != Verdict::skipped;
      }
      gate_.failures += harness::is_red(finding.verdict) ? 1 : 0;
      gate_.report.findings.push_back(std::move(finding));
    }
    if (interrupted_) {
      worsen(summary.verdict, summary.reason, Verdict::skipped, "not whole: the run ended before");
    } else if (summary.verdict == Verdict::passed && !summary.has_judged) {
      judge_nothing(request.phase, outcome.report, unsupported, summary);
    }
    if (!is_further) gate_.report.not_run += outcome.report.not_run;
    gate_.cases += summary.cases;
    gate_.phases.push_back(summary);
    return summary.verdict;
  }

  /// What further phases leave uncovered, the suites have covered.
  static void forgive_coverage(Finding& finding) {
    if (!harness::lacks_coverage(finding)) return;
    finding.unit.require_all_cells = false;
    finding.missing_cells.clear();
    harness::judge_coverage(finding);
  }

  /// Of a phase that judged nothing, and that nobody skipped.
  static void judge_nothing(Phase phase,
                            const harness::Report& report,
                            const std::string& unsupported,
                            PhaseSummary& summary) {
    const bool had_no_time = phase == Phase::soak && report.ending != "completed";
    summary.verdict = Verdict::skipped;
    summary.reason = had_no_time ? "no case was run: the time was over before" : unsupported;
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

  void run_device(int device) {
    DeviceVerdict& of = gate_.devices[static_cast<std::size_t>(device)];
    if (is_over()) worsen(of.verdict, of.reason, Verdict::skipped, not_measured);
    // Alone it is in the suites already.
    if (is_over() || gate_.devices.size() == 1) return;
    const Verdict verdict =
        run_phase({.phase = Phase::device, .device = device}, fmt::format("device_{}", device));
    worsen(of.verdict, of.reason, verdict, gate_.phases.back().reason);
  }

  /// Links with patterns of their own in every round, then suites; where the soak was to go on for
  /// longer, both again, from where they stopped.
  void soak() {
    std::vector<double> budgets_s = options_.longer_s;
    budgets_s.insert(budgets_s.begin(), options_.budget_s);
    double before_s = 0;
    PhaseRequest request{.phase = Phase::soak};
    // They are one run: the last time that it went on tells all.
    std::optional<PhaseOutcome> suites;
    for (const double budget_s : budgets_s) {
      soak_links(hooks_.now_s() + (budget_s - before_s) / 2);
      if (is_over()) break;
      request.budget_s = budget_s / 2;
      suites = ask(request);
      before_s = budget_s;
    }
    if (suites) take(request, std::move(*suites), "soak");
  }

  /// Link after link, round after round, until the time is over or no link answers any more. Where
  /// the time does not suffice for all of them, it depends on the seed which come first.
  void soak_links(double end_s) {
    const std::size_t count = gate_.links.size();
    for (std::size_t silent = 0; silent < count && !is_over() && hooks_.now_s() < end_s;) {
      const std::size_t chosen = (options_.seed % count + soaked_ % count) % count;
      const std::uint64_t round = 1 + soaked_ / count;
      ++soaked_;
      Link& link = gate_.links[chosen];
      // One that crashes or hangs is not asked again.
      if (link.finding.verdict != Verdict::passed && link.finding.verdict != Verdict::falsified) {
        ++silent;
        continue;
      }
      constexpr std::int64_t patterns = 16;
      probe(link,
            {.method = link.method,
             .seed = options_.seed + round,
             .first = gpu::cuda::Pattern::fixed,
             .patterns = patterns,
             .repeats = 4});
      ++soak_probes_[chosen];
      silent = 0;
    }
    const auto [least, most] = std::minmax_element(soak_probes_.begin(), soak_probes_.end());
    hooks_.say(
        fmt::format("soak: each of {} links was probed {} to {} times", count, *least, *most));
  }

  [[nodiscard]] static bool is_measured(const Link& link) {
    return link.finding.cases > 0 || link.finding.verdict != Verdict::passed;
  }

  /// What the links say of the devices.
  void judge_devices() {
    std::vector<const Link*> wrong;
    for (const Link& link : gate_.links) {
      gate_.exposure += link.exposure;
      const auto verdict = link.finding.verdict;
      if (link.from == link.to) {
        DeviceVerdict& own = gate_.devices[static_cast<std::size_t>(link.from)];
        own.exposure += link.exposure;
        worsen(own.verdict, own.reason, verdict, "its memory: " + link.finding.reason);
      } else if (harness::is_red(verdict)) {
        wrong.push_back(&link);
      }
      if (link.lost_sources > 0) {
        DeviceVerdict& source = gate_.devices[static_cast<std::size_t>(link.from)];
        worsen(source.verdict,
               source.reason,
               Verdict::falsified,
               fmt::format("lost what was written to it {} times", link.lost_sources));
      }
    }
    blame(wrong);
    for (DeviceVerdict& each : gate_.devices) {
      if (each.device.memory.empty()) continue;
      worsen(each.verdict, each.reason, Verdict::skipped, "no hardware: " + each.device.memory);
    }
  }

  /// Where all wrong links, several pairs, have one device in common, that is the suspect.
  void blame(const std::vector<const Link*>& wrong) {
    std::set<std::pair<int, int>> pairs;
    for (const Link* each : wrong) pairs.insert({each->from, each->to});
    if (pairs.size() < 2) return;
    std::vector<int> common;
    for (int d = 0; d < static_cast<int>(gate_.devices.size()); ++d) {
      const bool touches_all = std::all_of(pairs.begin(), pairs.end(), [d](const auto& pair) {
        return pair.first == d || pair.second == d;
      });
      if (touches_all) common.push_back(d);
    }
    if (common.size() != 1) return;
    DeviceVerdict& suspect = gate_.devices[static_cast<std::size_t>(common.front())];
    worsen(suspect.verdict,
           suspect.reason,
           Verdict::falsified,
           fmt::format("all {} wrong links are from or to it", pairs.size()));
  }

  GateReport finish() {
    for (Link& link : gate_.links) {
      if (is_measured(link)) continue;
      ++gate_.report.not_run;
      link.finding.verdict = Verdict::skipped;
      link.finding.reason = not_measured;
    }
    judge_devices();
    PhaseSummary links{.name = "links"};
    for (const Link& link : gate_.links) {
      worsen(links.verdict,
             links.reason,
             link.finding.verdict,
             fmt::format("{}: {}", link_name(link.from, link.to), link.finding.reason));
      links.cases += link.exposure.copies;
      links.compared_bytes += link.exposure.bytes;
      links.has_judged |= link.finding.verdict != Verdict::skipped;
      if (link.finding.reason != not_measured) gate_.report.findings.push_back(link.finding);
    }
    if (!gate_.links.empty()) gate_.phases.insert(gate_.phases.begin(), links);
    if (is_over()) gate_.report.ending = "interrupted";
    harness::sort_findings(gate_.report.findings);
    gate_.report.status_beyond_findings = status_beyond_findings();
    gate_.status = exit_status(gate_.report);
    return std::move(gate_);
  }

  /// 0 takes more than that nothing failed: what could not be run is not green either.
  [[nodiscard]] int status_beyond_findings() const {
    const auto any = [](const auto& all, auto holds) {
      return std::any_of(all.begin(), all.end(), holds);
    };
    const auto is_red = [](const auto& each) { return harness::is_red(each.verdict); };
    if (any(gate_.devices, is_red) || any(gate_.phases, is_red)) return 1;
    const bool is_broken = any(
        gate_.phases, [](const PhaseSummary& each) { return each.verdict == Verdict::errored; });
    const bool lacks_phase = any(gate_.phases, [](const PhaseSummary& each) {
      return !each.has_judged && each.name != name(Phase::sanitizer);
    });
    const bool is_whole = !gate_.devices.empty() && gate_.is_of_hardware() && !is_over() &&
                          !is_broken && !lacks_phase && !lacks_backend();
    return is_whole ? 0 : 2;
  }

  /// Whether a backend is missing, or nothing was run on it.
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
  bool interrupted_ = false;
  /// Turns that links have had in the soak, and how often each was probed.
  std::uint64_t soaked_ = 0;
  std::vector<int> soak_probes_;
};

}  // namespace

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::suites:
      return "suites";
    case Phase::device:
      return "device";
    case Phase::soak:
      return "soak";
    case Phase::sanitizer:
      return "sanitizer";
  }
  return "?";
}

std::optional<Phase> phase_named(std::string_view wanted) {
  for (const Phase each : {Phase::suites, Phase::device, Phase::soak, Phase::sanitizer}) {
    if (name(each) == wanted) return each;
  }
  return std::nullopt;
}

double Link::gigabytes_per_s() const {
  if (seconds.empty()) return 0;
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[sorted.size() / 2];
  return median > 0 ? static_cast<double>(exposure.bytes_of_copy) / median / 1e9 : 0;
}

bool GateReport::is_of_hardware() const {
  return std::all_of(devices.begin(), devices.end(), [](const DeviceVerdict& each) {
    return each.device.memory.empty();
  });
}

GateReport run_gate(const Options& options,
                    const std::vector<Device>& devices,
                    const std::string& why_no_device,
                    const Hooks& hooks) {
  return Gate(options, devices, hooks).run(why_no_device);
}

}  // namespace rankcheck::cases::hardware
