#include "gpu/device/hybrid/plan_runner.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::hybrid {

namespace {

using plan::StepKind;

/// Fills signallers[event] with the rank that signals the event.
void find_signallers(const plan::Plan& plan, std::vector<int>& signallers) {
  signallers.assign(spec::to_size(plan.events), 0);
  std::iota(signallers.begin(), signallers.begin() + plan.ranks(), 0);
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    for (const plan::Step& step : plan.steps[spec::to_size(rank)]) {
      if (step.kind == StepKind::signal) signallers[spec::to_size(step.event.id)] = rank;
    }
  }
}

}  // namespace

void PlanRunner::run(const PlanCall& call) {
  call_ = &call;
  find_signallers(call.plan, signallers_);
  scheduler_.begin(call.plan, {});
  while (const std::optional<plan::Move> next = scheduler_.next()) {
    const auto& program = call.plan.steps[spec::to_size(next->rank)];
    const Member& mover = member(next->rank);
    if (next->step == plan::Move::entry) {
      if (!is_here(mover.process)) continue;
      if (call.entering) call.entering(next->rank);
      devices_.record(mover.place, next->rank);
    } else if (spec::to_size(next->step) < program.size()) {
      take(next->rank, program[spec::to_size(next->step)]);
    } else if (is_here(mover.process) && call.left) {
      devices_.synchronize();
      call.left(next->rank);
    }
  }
  if (!scheduler_.finished()) throw DeviceError("the plan waits for an event that never happens");
}

void PlanRunner::take(int rank, const plan::Step& step) {
  switch (step.kind) {
    case StepKind::signal:
      if (is_here(member(rank).process)) devices_.record(member(rank).place, step.event.id);
      return;
    case StepKind::wait:
      wait(rank, step.event);
      return;
    case StepKind::put:
    case StepKind::copy:
    case StepKind::reduce:
      if (step.source_count == 1) {
        move(rank, step, call_->plan.sources_of(step).front());
      } else {
        reduce(rank, step);
      }
      return;
  }
}

void PlanRunner::wait(int rank, plan::Event event) {
  const Member& waiter = member(rank);
  const Member& signaller = member(signallers_[spec::to_size(event.id)]);
  const bool waits_here = is_here(waiter.process);
  const bool signals_here = is_here(signaller.process);
  if (waits_here && signals_here) {
    devices_.wait(waiter.place, event.id);
    return;
  }
  if (!waits_here && !signals_here) return;
  // The event may follow work of other ranks of this process, which the signaller waited for.
  devices_.synchronize();
  if (!call_->synchronises) return;
  if (signals_here) {
    processes_.send(waiter.process, nullptr, 0);
  } else {
    processes_.receive(signaller.process, nullptr, 0);
  }
}

void PlanRunner::move(int actor, const plan::Step& step, const plan::Range& source) {
  const plan::Range& destination = step.destination;
  const Member& from = member(source.rank);
  const Member& to = member(destination.rank);
  const int divisor = call_->plan.divisor_of(step);
  const std::int64_t bytes = bytes_of(destination.rank, destination.count);
  if (is_here(from.process) && is_here(to.process)) {
    combine(member(actor).place, address(destination), {&source, 1}, destination.count, divisor);
  } else if (is_here(from.process)) {
    std::byte* data = address(source);
    if (call_->plan.is_premultiplied(source) || divisor != 1) {
      // The place's earlier work is not the only work that the elements may depend on.
      devices_.synchronize();
      data = temporary(from.place, bytes);
      combine(from.place, data, {&source, 1}, destination.count, divisor);
    }
    send(to.process, source.rank, data, bytes);
  } else if (is_here(to.process)) {
    receive(from.process, destination.rank, address(destination), bytes);
  }
}

void PlanRunner::reduce(int actor, const plan::Step& step) {
  const plan::Range& destination = step.destination;
  const Member& to = member(destination.rank);
  const int divisor = call_->plan.divisor_of(step);
  const std::vector<Part> parts = parts_of(step);
  const bool ends_here = is_here(to.process);
  if (parts.size() == 1 && parts.front().process == to.process) {
    if (!ends_here) return;
    combine(member(actor).place,
            address(destination),
            parts.front().sources,
            destination.count,
            divisor);
    return;
  }
  const std::int64_t bytes = bytes_of(destination.rank, destination.count);
  const auto rooms = static_cast<std::int64_t>(ends_here ? parts.size() : 0);
  std::byte* const room = ends_here ? temporary(to.place, rooms * bytes) : nullptr;
  std::vector<Source> partials;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Part& part = parts[p];
    std::byte* const own_room = ends_here ? room + static_cast<std::int64_t>(p) * bytes : nullptr;
    if (is_here(part.process) && ends_here) {
      partials.push_back({.data = partial(to.place, part, own_room)});
    } else if (is_here(part.process)) {
      const int rank = part.sources.front().rank;
      const int place = member(rank).place;
      // The reducing rank knows that the sources are complete, but the place may not know it.
      devices_.synchronize();
      const std::byte* const data = partial(place, part, temporary(place, bytes));
      send(to.process, rank, data, bytes);
    } else if (ends_here) {
      receive(part.process, destination.rank, own_room, bytes);
      partials.push_back({.data = own_room});
    }
  }
  if (!ends_here) return;
  const auto& [type, op] = call_->plan.arithmetic_of(step);
  devices_.combine(to.place,
                   {type, op, address(destination), partials, destination.count, divisor});
}

std::byte* PlanRunner::partial(int place, const Part& part, std::byte* room) {
  const plan::Range& first = part.sources.front();
  if (part.sources.size() == 1 && !call_->plan.is_premultiplied(first)) return address(first);
  combine(place, room, part.sources, first.count, 1);
  return room;
}

void PlanRunner::combine(int place,
                         std::byte* destination,
                         std::span<const plan::Range> sources,
                         std::int64_t count,
                         int divisor) {
  sources_.clear();
  for (const plan::Range& source : sources) {
    const RankMemory& memory = call_->memory[spec::to_size(source.rank)];
    sources_.push_back({.data = address(source),
                        .scalar = call_->plan.is_premultiplied(source) ? memory.scalar : nullptr});
  }
  const auto& [type, op] = call_->plan.arithmetic[spec::to_size(sources.front().rank)];
  devices_.combine(place, {type, op, destination, sources_, count, divisor});
}

void PlanRunner::send(int process, int rank, const std::byte* data, std::int64_t bytes) {
  devices_.synchronize();
  if (call_->transports[spec::to_size(rank)] == Transport::direct) {
    processes_.send(process, data, bytes);
    return;
  }
  staging_.resize(spec::to_size(bytes));
  devices_.cluster().read(member(rank).place, data, staging_.data(), bytes);
  processes_.send(process, staging_.data(), bytes);
}

void PlanRunner::receive(int process, int rank, std::byte* data, std::int64_t bytes) {
  // Earlier work of other places may still read the memory.
  devices_.synchronize();
  if (call_->transports[spec::to_size(rank)] == Transport::direct) {
    processes_.receive(process, data, bytes);
    return;
  }
  staging_.resize(spec::to_size(bytes));
  processes_.receive(process, staging_.data(), bytes);
  devices_.cluster().write(member(rank).place, staging_.data(), data, bytes);
}

std::vector<PlanRunner::Part> PlanRunner::parts_of(const plan::Step& step) const {
  std::vector<Part> parts;
  for (const plan::Range& source : call_->plan.sources_of(step)) {
    const int process = member(source.rank).process;
    auto part = std::find_if(
        parts.begin(), parts.end(), [&](const Part& each) { return each.process == process; });
    if (part == parts.end()) part = parts.insert(parts.end(), {.process = process, .sources = {}});
    part->sources.push_back(source);
  }
  return parts;
}

std::byte* PlanRunner::temporary(int place, std::int64_t bytes) {
  Temporary& kept = temporaries_[spec::to_size(place)];
  if (kept.bytes < bytes) {
    const std::int64_t size = std::max(bytes, 2 * kept.bytes);
    kept = {.begin = devices_.cluster().allocate(place, size), .bytes = size};
  }
  return kept.begin;
}

const Member& PlanRunner::member(int rank) const {
  return call_->members[spec::to_size(rank)];
}

std::int64_t PlanRunner::bytes_of(int rank, std::int64_t count) const {
  return count * call_->plan.arithmetic[spec::to_size(rank)].element_bytes();
}

std::byte* PlanRunner::address(const plan::Range& range) const {
  return call_->memory[spec::to_size(range.rank)].begin(range.buffer) +
         bytes_of(range.rank, range.offset);
}

}  // namespace rankcheck::gpu::hybrid
