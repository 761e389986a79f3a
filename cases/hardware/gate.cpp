#include "cases/hardware/gate.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

namespace rankcheck::cases::hardware {

namespace {

using gpu::cuda::Method;
using gpu::cuda::Pattern;
using harness::Verdict;

bool has_number(Phase phase) {
  return phase == Phase::device || phase == Phase::nccl;
}

Link link_between(int from, int to, Method method) {
  Link link{.from = from, .to = to, .method = method};
  harness::Unit& unit = link.finding.unit;
  unit.operation = "link";
  unit.algorithm = gpu::cuda::name(method);
  unit.backend = "cuda";
  unit.property = "carries_patterns";
  unit.require_all_cells = false;
  unit.variant = fmt::format("{}_to_{}", from, to);
  return link;
}

}  // namespace

std::string folder_of(const PhaseRequest& request) {
  std::string word(phase_names[spec::to_size(request.phase)]);
  if (has_number(request.phase)) word += fmt::format("-{}", request.number);
  return word;
}

std::optional<PhaseRequest> phase_of_folder(const std::string& folder) {
  const std::size_t dash = std::min(folder.find('-'), folder.size());
  const auto found = std::find(phase_names.begin(), phase_names.end(), folder.substr(0, dash));
  if (found == phase_names.end()) return std::nullopt;
  PhaseRequest request{.phase = static_cast<Phase>(found - phase_names.begin())};
  const char* const end = folder.data() + folder.size();
  std::from_chars(std::min(folder.data() + dash + 1, end), end, request.number);
  if (request.number < 0 || folder_of(request) != folder) return std::nullopt;
  return request;
}

std::string Link::name() const {
  return from == to ? fmt::format("within {}", from) : fmt::format("{} to {}", from, to);
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

Gate::Gate(Options options, std::vector<Device> devices)
    : options_(std::move(options)), devices_(std::move(devices)) {
  const int count = static_cast<int>(devices_.size());
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      for (const Method method : {Method::copy, Method::load}) {
        links_.push_back(link_between(from, to, method));
      }
    }
  }
}

ProbeRequest Gate::request_for(const Link& link, std::uint64_t round) const {
  ProbeRequest request{.from = link.from, .to = link.to, .bytes = options_.bytes};
  gpu::cuda::LinkProbe& probe = request.probe;
  probe = {.method = link.method, .seed = options_.seed + round, .repeats = 4};
  if (round > 0) {
    probe.first = Pattern::fixed;
    probe.patterns = 16;
  } else if (options_.is_quick) {
    probe.patterns = Pattern::fixed + 1;
    probe.repeats = 1;
  } else {
    // All fixed patterns, and as many random patterns.
    probe.patterns = 2 * Pattern::fixed;
  }
  return request;
}

void Gate::add(const ProbeAnswer& answer) {
  const ProbeRequest& request = answer.request;
  const auto found = std::find_if(links_.begin(), links_.end(), [&](const Link& each) {
    return each.from == request.from && each.to == request.to &&
           each.method == request.probe.method;
  });
  const std::uint64_t round = request.probe.seed - options_.seed;
  if (found == links_.end() || to_json(request) != to_json(request_for(*found, round))) {
    throw harness::BadInput("probe: expected one of this gate");
  }
  if (round > 0) {
    const std::uint64_t count = links_.size();
    const auto index = static_cast<std::uint64_t>(found - links_.begin());
    soak_turns_ = (round - 1) * count + (index + count - options_.seed % count) % count + 1;
    soaked_links_s_ += answer.took_s;
    ++found->soak_probes;
  }
  found->add(answer);
}

void Gate::add(const PhaseRequest& request, PhaseOutcome outcome) {
  phases_[folder_of(request)] = std::move(outcome);
}

const PhaseOutcome* Gate::find(const PhaseRequest& request) const {
  const auto found = phases_.find(folder_of(request));
  return found == phases_.end() ? nullptr : &found->second;
}

double Gate::soaked_suites_s() const {
  const PhaseOutcome* const suites = find({.phase = Phase::soak});
  return suites == nullptr ? 0 : suites->spent_s;
}

double Gate::soaked_s() const {
  return soaked_links_s_ + soaked_suites_s();
}

/// One session of a gate.
class Gate::Session {
 public:
  Session(Gate& gate, const Hooks& hooks) : gate_(gate), hooks_(hooks) {}

  std::string run() {
    measure_links();
    if (gate_.options_.is_quick) return ended_early_;
    for (const PhaseRequest& each : gate_.options_.parts) {
      const PhaseOutcome* const before = gate_.find(each);
      const bool is_done = before != nullptr && before->ended_early.empty();
      if (is_done) continue;
      if (is_over()) return ended_early_;
      run_phase(each);
    }
    if (!is_over()) soak();
    return ended_early_;
  }

 private:
  /// Whether the gate must end now. Stays true after it became true.
  [[nodiscard]] bool is_over() {
    if (ended_early_.empty()) ended_early_ = hooks_.why_end();
    return !ended_early_.empty();
  }

  void measure_links() {
    const bool is_quick = gate_.options_.is_quick;
    for (const Link& link : gate_.links_) {
      if (link.is_measured()) continue;
      if (is_over()) return;
      if (!probe(link, 0)) continue;
      // There may be hundreds of links, and a quick gate precedes the output of a job.
      if (is_quick && link.finding.verdict == Verdict::passed) continue;
      hooks_.say(fmt::format("link {:<10} {}  {:<7}  {:>8.1f} GB/s  {}",
                             link.name(),
                             gpu::cuda::name(link.method),
                             gpu::cuda::name(link.way),
                             link.gigabytes_per_s(),
                             harness::name(link.finding.verdict)));
    }
  }

  /// Returns false if the gate was interrupted before the probe answered.
  bool probe(const Link& link, std::uint64_t round) {
    ProbeAnswer answer{.request = gate_.request_for(link, round), .outcome = {}};
    const double begin_s = hooks_.now_s();
    try {
      answer.outcome = hooks_.probe(answer.request);
    } catch (const harness::Interrupted&) {
      // Nobody asks again behind the last link of a quick gate.
      static_cast<void>(is_over());
      return false;
    }
    answer.took_s = hooks_.now_s() - begin_s;
    hooks_.keep(answer);
    gate_.add(answer);
    return true;
  }

  void run_phase(const PhaseRequest& request) {
    PhaseOutcome outcome = hooks_.run(request);
    if (!outcome.ended_early.empty()) ended_early_ = outcome.ended_early;
    gate_.add(request, std::move(outcome));
  }

  /// Probes the links with new patterns, then runs suites. Over all sessions, each gets half of the
  /// time.
  void soak() {
    const double left_s = hooks_.soak_s();
    if (left_s <= 0) return;
    const double end_s = hooks_.now_s() + left_s;
    soak_links(hooks_.now_s() + (gate_.soaked_s() + left_s) / 2 - gate_.soaked_links_s_);
    const double suites_s = end_s - hooks_.now_s();
    if (is_over() || suites_s <= 0) return;
    run_phase({.phase = Phase::soak, .budget_s = gate_.soaked_suites_s() + suites_s});
  }

  /// Probes one link after the other, round after round, until the time is over or no link answers
  /// any more. The seed decides which link comes first, since the time may not suffice for all
  /// links.
  void soak_links(double end_s) {
    const std::vector<Link>& links = gate_.links_;
    const std::size_t count = links.size();
    std::uint64_t turn = gate_.soak_turns_;
    for (std::size_t silent = 0; silent < count && !is_over() && hooks_.now_s() < end_s; ++turn) {
      const Link& link = links[(gate_.options_.seed % count + turn % count) % count];
      // A link that crashed or hung is not probed again.
      if (link.finding.verdict != Verdict::passed && link.finding.verdict != Verdict::falsified) {
        ++silent;
        continue;
      }
      static_cast<void>(probe(link, 1 + turn / count));
      silent = 0;
    }
    const auto [least, most] =
        std::minmax_element(links.begin(), links.end(), [](const Link& a, const Link& b) {
          return a.soak_probes < b.soak_probes;
        });
    hooks_.say(fmt::format("soak: each of {} links was probed {} to {} times",
                           count,
                           least->soak_probes,
                           most->soak_probes));
  }

  Gate& gate_;
  const Hooks& hooks_;
  /// Why the gate ends early. Empty while it goes on.
  std::string ended_early_;
};

std::string Gate::run(const Hooks& hooks) {
  return Session(*this, hooks).run();
}

}  // namespace rankcheck::cases::hardware
