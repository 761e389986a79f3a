#include "gpu/plan/monitor.hpp"

#include <algorithm>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/print.hpp"

namespace rankcheck::gpu::plan {

namespace {

bool overlap(const Extent& a, const Extent& b) {
  return a.begin < b.end && b.begin < a.end;
}

/// Says what is wrong with the ranks and counts of a step that moves data; empty if nothing is.
std::string_view why_malformed(const Plan& plan, const Step& step, int rank) {
  if (step.kind != StepKind::reduce && step.source_count != 1) return "needs one source";
  if (step.source_count == 0) return "needs a source";
  if (step.kind == StepKind::put && step.destination.rank == rank) {
    return "puts to its own rank, which must be a copy";
  }
  if (step.kind != StepKind::put && step.destination.rank != rank) {
    return "writes another rank's memory, which must be a put";
  }
  for (const Range& source : plan.sources_of(step)) {
    if (step.kind != StepKind::reduce && source.rank != rank) {
      return "reads another rank's memory, which must be a reduce";
    }
    if (source.count != step.destination.count) return "has a source of another size";
  }
  return {};
}

}  // namespace

const Violation* Monitor::begin(const Plan& plan, std::span<const RankMemory> memory, Unit unit) {
  plan_ = &plan;
  memory_ = memory;
  unit_ = unit;
  ranks_ = spec::to_size(plan.ranks());
  violation_.text.clear();
  if (memory.size() != ranks_ || plan.events < plan.ranks()) {
    fail(Violation::Kind::malformed, "the plan's ranks, events and memory do not match");
    return &violation_;
  }
  is_signalled_.assign(spec::to_size(plan.events), 0);
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    const auto& program = plan.steps[spec::to_size(rank)];
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Move move{rank, static_cast<std::int32_t>(i)};
      const bool ok =
          moves_data(program[i]) ? check_step(move, program[i]) : check_event(move, program[i]);
      if (!ok) return &violation_;
    }
  }
  clocks_.assign(ranks_ * ranks_, 0);
  event_clocks_.resize((spec::to_size(plan.events) - ranks_) * ranks_);
  reads_.clear();
  segments_.resize(ranks_);
  for (int rank = 0; rank < plan.ranks(); ++rank) begin_memory(rank);
  return nullptr;
}

bool Monitor::check_event(const Move& move, const Step& step) {
  const std::int32_t id = step.event.id;
  const bool signals = step.kind == StepKind::signal;
  if (id < (signals ? plan_->ranks() : 0) || id >= plan_->events) {
    return fail(Violation::Kind::malformed, to_text(*plan_, move) + " names no event of the plan");
  }
  if (signals && std::exchange(is_signalled_[spec::to_size(id)], std::uint8_t{1}) != 0) {
    return fail(Violation::Kind::malformed, to_text(*plan_, move) + " was signalled before");
  }
  return true;
}

bool Monitor::check_step(const Move& move, const Step& step) {
  if (step.first_source > plan_->sources.size() ||
      step.source_count > plan_->sources.size() - step.first_source) {
    return fail(Violation::Kind::malformed,
                "rank " + std::to_string(move.rank) + " step " + std::to_string(move.step) +
                    " names sources that the plan does not have");
  }
  const std::string_view why = why_malformed(*plan_, step, move.rank);
  if (!why.empty()) {
    return fail(Violation::Kind::malformed, to_text(*plan_, move) + " " + std::string(why));
  }
  if (!check_range(move, step.destination)) return false;
  for (const Range& source : plan_->sources_of(step)) {
    if (!check_range(move, source) || !check_overlap(move, step, source)) return false;
  }
  return true;
}

bool Monitor::check_range(const Move& move, const Range& range) {
  if (range.rank < 0 || range.rank >= plan_->ranks()) {
    return fail(Violation::Kind::malformed, to_text(*plan_, move) + " names no rank of the plan");
  }
  const std::int64_t size = elements_in(range.rank, range.buffer);
  if (range.offset >= 0 && range.count >= 0 && range.count <= size &&
      range.offset <= size - range.count) {
    return true;
  }
  return fail(Violation::Kind::memory,
              to_text(*plan_, move) + ": " + to_text(range, -1) + " is outside the buffer of " +
                  std::to_string(size) + " elements");
}

bool Monitor::check_overlap(const Move& move, const Step& step, const Range& source) {
  if (source.rank != step.destination.rank) return true;
  const Extent from = addresses(source);
  const Extent to = addresses(step.destination);
  if (from.begin == to.begin || !overlap(from, to)) return true;
  return fail(Violation::Kind::memory,
              to_text(*plan_, move) + " writes over a part of its own source");
}

void Monitor::begin_memory(int rank) {
  std::vector<Segment>& segments = segments_[spec::to_size(rank)];
  segments.clear();
  const RankMemory& memory = memory_[spec::to_size(rank)];
  const Extent& send = memory[Buffer::send];
  const Extent& recv = memory[Buffer::recv];
  const auto add = [&](std::int64_t begin, std::int64_t end, bool has_value) {
    if (begin < end) segments.push_back({begin, end, Epoch{rank, 1}, -1, has_value});
  };
  add(send.begin, send.end, true);
  const bool shared = overlap(send, recv);
  add(recv.begin, shared ? std::min(recv.end, send.begin) : recv.end, false);
  if (shared) add(std::max(recv.begin, send.end), recv.end, false);
  add(memory[Buffer::scratch].begin, memory[Buffer::scratch].end, false);
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
    return a.begin < b.begin;
  });
}

const Violation* Monitor::follow(const Move& move) {
  const auto rank = spec::to_size(move.rank);
  clock(move.rank)[rank] = static_cast<std::uint32_t>(move.step + 2);
  if (move.step == Move::entry) return nullptr;
  const auto& program = plan_->steps[rank];
  const auto step = spec::to_size(move.step);
  const bool ok = step < program.size() ? follow_step(move, program[step]) : take_all(move);
  return ok ? nullptr : &violation_;
}

bool Monitor::follow_step(const Move& move, const Step& step) {
  const std::span<std::uint32_t> mine = clock(move.rank);
  if (step.kind == StepKind::signal) {
    std::copy(mine.begin(), mine.end(), event_clock(step.event).begin());
    return true;
  }
  if (step.kind == StepKind::wait) {
    if (step.event.id < plan_->ranks()) {
      std::uint32_t& entered = mine[spec::to_size(step.event.id)];
      entered = std::max(entered, std::uint32_t{1});
      return true;
    }
    const std::span<const std::uint32_t> theirs = event_clock(step.event);
    for (std::size_t i = 0; i < ranks_; ++i) mine[i] = std::max(mine[i], theirs[i]);
    return true;
  }
  for (const Range& source : plan_->sources_of(step)) {
    if (!touch(move, {.range = source, .writes = false, .needs_value = true})) return false;
  }
  return touch(move, {.range = step.destination, .writes = true});
}

bool Monitor::take_all(const Move& move) {
  for (const Buffer buffer : {Buffer::send, Buffer::recv, Buffer::scratch}) {
    const Range all{move.rank, buffer, 0, elements_in(move.rank, buffer)};
    if (!touch(move, {.range = all, .writes = true})) return false;
  }
  return true;
}

bool Monitor::touch(const Move& move, const Access& access) {
  if (access.range.count == 0) return true;
  std::vector<Segment>& segments = segments_[spec::to_size(access.range.rank)];
  const Extent extent = addresses(access.range);
  const auto ends_before = [](const Segment& segment, std::int64_t address) {
    return segment.end <= address;
  };
  const auto found = std::lower_bound(segments.begin(), segments.end(), extent.begin, ends_before);
  const std::size_t first = split(segments, spec::to_size(found - segments.begin()), extent.begin);
  // An access visits each segment in its range, so this search adds little.
  std::size_t at_end = first;
  while (at_end < segments.size() && ends_before(segments[at_end], extent.end)) ++at_end;
  const std::size_t last = split(segments, at_end, extent.end);
  for (std::size_t i = first; i < last; ++i) {
    if (!touch_segment(move, access, segments[i])) return false;
  }
  if (!access.writes || last - first == 1) return true;
  // A write gives its whole range one history, so the segments are merged and the list stays short.
  segments[first].end = extent.end;
  const auto begin = segments.begin() + static_cast<std::ptrdiff_t>(first);
  segments.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(last - first));
  return true;
}

bool Monitor::touch_segment(const Move& move, const Access& access, Segment& segment) {
  const Epoch now{move.rank, static_cast<std::uint32_t>(move.step + 2)};
  if (!knows(move.rank, segment.writer)) return fail_race(move, access, segment, segment.writer);
  if (access.needs_value && !segment.has_value) {
    return fail(Violation::Kind::memory,
                to_text(*plan_, move) + " reads " + to_text(access.range, -1) +
                    ", of which a part was never written");
  }
  if (access.writes) {
    for (std::int32_t i = segment.reads; i >= 0; i = reads_[spec::to_size(i)].next) {
      const Epoch reader = reads_[spec::to_size(i)].epoch;
      if (!knows(move.rank, reader)) return fail_race(move, access, segment, reader);
    }
    segment.writer = now;
    segment.reads = -1;
    segment.has_value = true;
    return true;
  }
  // An earlier read that this rank knows of can be dropped. The reason is that a move that is
  // ordered after this read is ordered after the earlier read too.
  std::int32_t rest = segment.reads;
  while (rest >= 0 && knows(move.rank, reads_[spec::to_size(rest)].epoch))
    rest = reads_[spec::to_size(rest)].next;
  segment.reads = static_cast<std::int32_t>(reads_.size());
  reads_.push_back({now, rest});
  return true;
}

std::size_t Monitor::split(std::vector<Segment>& segments, std::size_t at, std::int64_t address) {
  if (at == segments.size() || segments[at].begin >= address) return at;
  Segment upper = segments[at];
  segments[at].end = address;
  upper.begin = address;
  segments.insert(segments.begin() + static_cast<std::ptrdiff_t>(at) + 1, upper);
  return at + 1;
}

Extent Monitor::addresses(const Range& range) const {
  const std::int64_t size = element_size(range.rank);
  const std::int64_t begin =
      memory_[spec::to_size(range.rank)][range.buffer].begin + range.offset * size;
  return {begin, begin + range.count * size};
}

std::int64_t Monitor::elements_in(int rank, Buffer buffer) const {
  return memory_[spec::to_size(rank)][buffer].size() / element_size(rank);
}

std::span<std::uint32_t> Monitor::clock(int rank) {
  return {clocks_.data() + spec::to_size(rank) * ranks_, ranks_};
}

std::span<std::uint32_t> Monitor::event_clock(Event event) {
  return {event_clocks_.data() + (spec::to_size(event.id) - ranks_) * ranks_, ranks_};
}

bool Monitor::knows(int rank, const Epoch& epoch) const {
  return clocks_[spec::to_size(rank) * ranks_ + spec::to_size(epoch.rank)] >= epoch.time;
}

bool Monitor::left_after_every_entry(int rank) const {
  for (int other = 0; other < plan_->ranks(); ++other) {
    const bool has_entered = clocks_[spec::to_size(rank) * ranks_ + spec::to_size(other)] > 0;
    if (!has_entered && plan_->share_call(rank, other)) return false;
  }
  return true;
}

const Violation* Monitor::deadlock(const Scheduler& scheduler) {
  std::string text;
  for (int rank = 0; rank < plan_->ranks(); ++rank) {
    const Move move = scheduler.position(rank);
    const auto& program = plan_->steps[spec::to_size(rank)];
    if (move.step > static_cast<std::int32_t>(program.size())) continue;
    if (!text.empty()) text += "; ";
    text += to_text(*plan_, move) + " never continues";
  }
  fail(Violation::Kind::deadlock, std::move(text));
  return &violation_;
}

bool Monitor::fail(Violation::Kind kind, std::string text) {
  violation_ = {kind, std::move(text)};
  return false;
}

bool Monitor::fail_race(const Move& move,
                        const Access& access,
                        const Segment& segment,
                        const Epoch& other) {
  const std::int64_t base = memory_[spec::to_size(access.range.rank)][access.range.buffer].begin;
  const std::int64_t size = element_size(access.range.rank);
  const Range touched{access.range.rank,
                      access.range.buffer,
                      (segment.begin - base) / size,
                      (segment.end - segment.begin) / size};
  const Move earlier{other.rank, static_cast<std::int32_t>(other.time) - 2};
  return fail(Violation::Kind::race,
              to_text(*plan_, earlier) + " and " + to_text(*plan_, move) + " touch " +
                  to_text(touched, -1) + " unordered");
}

}  // namespace rankcheck::gpu::plan
