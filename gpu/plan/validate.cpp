#include "gpu/plan/validate.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/print.hpp"

namespace rankcheck::gpu::plan {

namespace {

/// The uses of an event, in the order in which the programs name it.
struct EventUse {
  Move first;
  bool is_signalled = false;
  bool is_waited_for = false;
};

std::optional<Violation> check_events(const Plan& plan) {
  std::vector<EventUse> uses(spec::to_size(plan.events));
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    const auto& program = plan.steps[spec::to_size(rank)];
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Step& step = program[i];
      if (moves_data(step)) continue;
      EventUse& use = uses[spec::to_size(step.event.id)];
      if (!use.is_signalled && !use.is_waited_for) use.first = {rank, static_cast<std::int32_t>(i)};
      (step.kind == StepKind::signal ? use.is_signalled : use.is_waited_for) = true;
    }
  }
  for (int event = plan.ranks(); event < plan.events; ++event) {
    const EventUse& use = uses[spec::to_size(event)];
    if (use.is_signalled && use.is_waited_for) continue;
    if (!use.is_signalled && !use.is_waited_for) {
      return Violation{Violation::Kind::malformed,
                       "event " + std::to_string(event) + " is never used"};
    }
    return Violation{Violation::Kind::malformed,
                     to_text(plan, use.first) + ": no rank ever " +
                         (use.is_signalled ? "waits for" : "signals") + " that event"};
  }
  return std::nullopt;
}

/// The symbolic memory of all ranks, by address. Overlapping buffers share their values.
class Symbols {
 public:
  Symbols(const Plan& plan, std::span<const RankMemory> memory)
      : plan_(plan), memory_(memory), values_(memory.size()) {
    for (std::size_t r = 0; r < memory.size(); ++r) {
      const Extent& send = memory[r][Buffer::send];
      for (std::int64_t i = 0; i < send.size(); ++i) {
        values_[r][send.begin + i] = {{.rank = static_cast<std::int32_t>(r), .index = i}};
      }
    }
  }

  void perform(const Step& step) {
    const Range& to = step.destination;
    for (std::int64_t i = 0; i < to.count; ++i) {
      TracedValue value;
      for (const Range& source : plan_.sources_of(step)) {
        add(value, at(source, i), source.buffer == Buffer::send ? 1 : 0, step.finish ? 1 : 0);
      }
      at(to, i) = std::move(value);
    }
  }

  TracedValue& at(const Range& range, std::int64_t i) {
    const auto rank = spec::to_size(range.rank);
    return values_[rank][memory_[rank][range.buffer].begin + range.offset + i];
  }

 private:
  static void add(TracedValue& value, const TracedValue& more, int premultiplied, int finished) {
    for (Contribution contribution : more) {
      contribution.premultiplied += premultiplied;
      contribution.finished += finished;
      const auto same = [&](const Contribution& c) {
        return c.rank == contribution.rank && c.index == contribution.index &&
               c.premultiplied == contribution.premultiplied && c.finished == contribution.finished;
      };
      const auto found = std::find_if(value.begin(), value.end(), same);
      if (found != value.end()) {
        found->times += contribution.times;
      } else {
        value.insert(std::upper_bound(value.begin(), value.end(), contribution), contribution);
      }
    }
  }

  const Plan& plan_;
  std::span<const RankMemory> memory_;
  std::vector<std::map<std::int64_t, TracedValue>> values_;
};

}  // namespace

std::vector<RankMemory> memory_of(const Plan& plan,
                                  const spec::Contract& contract,
                                  const spec::Call& call,
                                  const Options& options) {
  std::vector<RankMemory> memory(spec::to_size(call.ranks));
  for (int rank = 0; rank < call.ranks; ++rank) {
    const spec::Extents extents = spec::extents_of(contract, call, rank);
    const std::int64_t send = extents.send_size;
    const std::int64_t recv = extents.recv_size;
    std::int64_t send_at = 0;
    std::int64_t recv_at = send;
    if (options.in_place && !extents.send.empty() && !extents.recv.empty()) {
      switch (contract.in_place) {
        case spec::InPlace::same:
          recv_at = 0;
          break;
        case spec::InPlace::send_within_recv:
          recv_at = 0;
          send_at = extents.recv[spec::to_size(rank)].offset;
          break;
        case spec::InPlace::recv_within_send:
          recv_at = extents.send[spec::to_size(rank)].offset;
          break;
        case spec::InPlace::none:
          break;
      }
    }
    const std::int64_t scratch_at = send + recv;
    memory[spec::to_size(rank)].buffers = {
        Extent{send_at, send_at + send},
        Extent{recv_at, recv_at + recv},
        Extent{scratch_at,
               scratch_at + std::max<std::int64_t>(plan.scratch[spec::to_size(rank)], 0)},
    };
  }
  return memory;
}

std::optional<Violation> validate(const Plan& plan, std::span<const RankMemory> memory) {
  Monitor monitor;
  if (const Violation* violation = monitor.begin(plan, memory, Monitor::Unit::element))
    return *violation;
  if (std::optional<Violation> violation = check_events(plan)) return violation;
  Scheduler scheduler;
  scheduler.begin(plan, Schedule{});
  while (const std::optional<Move> move = scheduler.next()) {
    if (const Violation* violation = monitor.follow(*move)) return *violation;
  }
  if (!scheduler.finished()) return *monitor.deadlock(scheduler);
  return std::nullopt;
}

std::vector<std::vector<TracedValue>> trace(const Plan& plan, std::span<const RankMemory> memory) {
  Symbols symbols(plan, memory);
  Scheduler scheduler;
  scheduler.begin(plan, Schedule{});
  while (const std::optional<Move> move = scheduler.next()) {
    const auto& program = plan.steps[spec::to_size(move->rank)];
    if (move->step < 0 || spec::to_size(move->step) >= program.size()) continue;
    const Step& step = program[spec::to_size(move->step)];
    if (moves_data(step)) symbols.perform(step);
  }
  std::vector<std::vector<TracedValue>> recv(memory.size());
  for (std::size_t r = 0; r < memory.size(); ++r) {
    for (std::int64_t i = 0; i < memory[r][Buffer::recv].size(); ++i) {
      recv[r].push_back(symbols.at({static_cast<int>(r), Buffer::recv, 0, 0}, i));
    }
  }
  return recv;
}

}  // namespace rankcheck::gpu::plan
