#include "gpu/plan/timing.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <stdexcept>
#include <utility>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::plan {

namespace {

/// The progress of one rank through its program; times in seconds.
struct Traveller {
  std::size_t step = 0;
  double now = 0;
  /// The time when all the data that the rank has sent have arrived.
  double delivered = 0;
};

/// The state of an event that other ranks may wait for.
struct Signal {
  /// The rank that signalled the event; negative if no rank has yet.
  int rank = -1;
  double sent = 0;
  /// The time when all the data that the rank had sent before the signal have arrived.
  double delivered = 0;
};

/// Takes the steps of all ranks in the order of virtual time. At equal times, the lower rank goes
/// first.
class Clockwork {
 public:
  Clockwork(const Plan& plan, std::int64_t element_bytes, const Topology& topology)
      : plan_(plan),
        element_bytes_(element_bytes),
        topology_(topology),
        travellers_(spec::to_size(plan.ranks())),
        signals_(spec::to_size(plan.events)),
        waiters_(spec::to_size(plan.events)),
        egress_(travellers_.size() * topology.levels.size(), 0),
        ingress_(egress_) {
    // A rank's entry counts as signalled before time 0, so that every rank knows it at 0.
    constexpr double before = -std::numeric_limits<double>::infinity();
    for (int rank = 0; rank < plan.ranks(); ++rank)
      signals_[spec::to_size(rank)] = {rank, before, 0};
    for (const LinkLevel& level : topology.levels) {
      timing_.traffic.push_back({.link_class = level.link_class});
    }
  }

  Timing run() {
    for (int rank = 0; rank < plan_.ranks(); ++rank) queue_.push({0.0, rank});
    int left = 0;
    while (!queue_.empty()) {
      const int rank = queue_.top().second;
      queue_.pop();
      const auto& program = plan_.steps[spec::to_size(rank)];
      Traveller& traveller = travellers_[spec::to_size(rank)];
      if (traveller.step == program.size()) {
        ++left;
        traveller.now = std::max(traveller.now, traveller.delivered);
        continue;
      }
      if (take(rank, traveller, program[traveller.step])) {
        ++traveller.step;
        queue_.push({traveller.now, rank});
      }
    }
    if (left < plan_.ranks())
      throw std::invalid_argument("the plan never ends: ranks wait for signals that never come");
    for (const Traveller& traveller : travellers_) {
      timing_.leave_seconds.push_back(traveller.now);
      timing_.seconds = std::max(timing_.seconds, traveller.now);
    }
    return std::move(timing_);
  }

 private:
  /// Returns false if the rank has to wait. The event's signal then queues the rank again.
  bool take(int rank, Traveller& traveller, const Step& step) {
    switch (step.kind) {
      case StepKind::wait:
        return wait(rank, traveller, step.event);
      case StepKind::signal:
        signal(rank, traveller, step.event);
        return true;
      case StepKind::put: {
        const Transfer sent = transfer(rank, step.destination.rank, bytes(step), traveller.now);
        traveller.now = sent.sent;
        traveller.delivered = std::max(traveller.delivered, sent.arrived);
        return true;
      }
      default:
        combine(rank, traveller, step);
        return true;
    }
  }

  bool wait(int rank, Traveller& traveller, Event event) {
    const Signal& signal = signals_[spec::to_size(event.id)];
    if (signal.rank < 0) {
      waiters_[spec::to_size(event.id)].push_back(rank);
      return false;
    }
    traveller.now = std::max(traveller.now, arrival(signal, rank));
    return true;
  }

  void signal(int rank, const Traveller& traveller, Event event) {
    const Signal& signal =
        signals_[spec::to_size(event.id)] = {rank, traveller.now, traveller.delivered};
    for (const int waiter : waiters_[spec::to_size(event.id)]) {
      queue_.push(
          {std::max(arrival(signal, waiter), travellers_[spec::to_size(waiter)].now), waiter});
    }
  }

  [[nodiscard]] double arrival(const Signal& signal, int at) const {
    const double latency =
        signal.rank == at
            ? 0
            : topology_.levels[topology_.level_between(signal.rank, at)].latency_seconds;
    return std::max(signal.sent + latency, signal.delivered);
  }

  void combine(int rank, Traveller& traveller, const Step& step) {
    double fetched = traveller.now;
    for (const Range& source : plan_.sources_of(step)) {
      if (source.rank == rank) continue;
      fetched = std::max(fetched, transfer(source.rank, rank, bytes(step), traveller.now).arrived);
    }
    const LinkLevel& local = topology_.levels.front();
    const std::int64_t touched = bytes(step) * (std::int64_t{step.source_count} + 1);
    timing_.traffic.front().messages += 1;
    timing_.traffic.front().bytes += touched;
    traveller.now =
        fetched + local.latency_seconds + static_cast<double>(touched) / local.bytes_per_second;
  }

  struct Transfer {
    double sent = 0;
    double arrived = 0;
  };

  /// Moves `size` bytes between two ranks, not before `earliest` (seconds).
  Transfer transfer(int from, int to, std::int64_t size, double earliest) {
    const std::size_t at = topology_.level_between(from, to);
    const LinkLevel& link = topology_.levels[at];
    double& egress = egress_[spec::to_size(from) * topology_.levels.size() + at];
    double& ingress = ingress_[spec::to_size(to) * topology_.levels.size() + at];
    const double start = std::max({earliest, egress, ingress});
    egress = ingress = start + static_cast<double>(size) / link.bytes_per_second;
    timing_.traffic[at].messages += 1;
    timing_.traffic[at].bytes += size;
    return {.sent = egress, .arrived = egress + link.latency_seconds};
  }

  [[nodiscard]] std::int64_t bytes(const Step& step) const {
    return step.destination.count * element_bytes_;
  }

  using Entry = std::pair<double, int>;

  const Plan& plan_;
  std::int64_t element_bytes_;
  const Topology& topology_;
  std::vector<Traveller> travellers_;
  /// Indexed by event.
  std::vector<Signal> signals_;
  std::vector<std::vector<int>> waiters_;
  /// The time when a rank's port is free again, indexed by rank and level.
  std::vector<double> egress_;
  std::vector<double> ingress_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  Timing timing_;
};

}  // namespace

Timing time_plan(const Plan& plan, std::int64_t element_bytes, const Topology& topology) {
  if (plan.ranks() > topology.capacity()) {
    throw std::invalid_argument("topology " + topology.name + " has " +
                                std::to_string(topology.capacity()) + " ranks, the plan needs " +
                                std::to_string(plan.ranks()));
  }
  return Clockwork(plan, element_bytes, topology).run();
}

}  // namespace rankcheck::gpu::plan
