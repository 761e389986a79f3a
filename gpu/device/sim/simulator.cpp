#include "gpu/device/sim/simulator.hpp"

#include <algorithm>
#include <cstring>

#include "reference/spec/assert.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/plan/random.hpp"

namespace rankcheck::gpu::sim {

namespace {

using plan::Buffer;
using plan::StepKind;

bool is_message(const plan::Plan& plan, const plan::Step& step) {
  const auto sources = plan.sources_of(step);
  return std::any_of(sources.begin(), sources.end(), [&](const plan::Range& source) {
    return source.rank != step.destination.rank;
  });
}

Status status_of(plan::Violation::Kind kind) {
  switch (kind) {
    case plan::Violation::Kind::memory:
      return Status::memory_violation;
    case plan::Violation::Kind::race:
      return Status::race;
    case plan::Violation::Kind::deadlock:
      return Status::deadlock;
    default:
      return Status::malformed;
  }
}

plan::Extent extent_of(const std::byte* base, std::int64_t bytes) {
  const auto begin = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(base));
  return {begin, begin + bytes};
}

}  // namespace

const Report& Simulator::run(const plan::Plan& plan,
                             std::span<const RankBuffers> buffers,
                             const plan::Schedule& schedule,
                             const std::optional<Fault>& fault) {
  plan_ = &plan;
  buffers_ = buffers;
  const std::size_t n = spec::to_size(plan.ranks());
  report_.status = Status::completed;
  report_.text.clear();
  report_.fault_fired = report_.fault_changed = false;
  report_.ranks.assign(n, {});
  report_.moves = report_.messages = report_.message_bytes = 0;

  for (std::size_t r = 0; r < n; ++r) {
    const auto& [type, op] = plan.arithmetic[r];
    const bool has_scalar = r < buffers.size() && buffers[r].scalar != nullptr;
    if (spec::is_defined(op, type) && (op != spec::ReduceOp::premul_sum || has_scalar)) continue;
    fail({plan::Violation::Kind::malformed, "the type, the op and its scalars do not match"});
    return report_;
  }
  bases_.resize(n);
  memory_.resize(n);
  fault_ = fault;
  begin_scratch(schedule.seed);
  for (std::size_t r = 0; r < std::min(n, buffers.size()); ++r) {
    bases_[r][spec::to_size(Buffer::send)] = buffers[r].send;
    bases_[r][spec::to_size(Buffer::recv)] = buffers[r].recv;
    memory_[r][Buffer::send] = extent_of(buffers[r].send, buffers[r].send_bytes);
    memory_[r][Buffer::recv] = extent_of(buffers[r].recv, buffers[r].recv_bytes);
  }
  const auto given = std::span(memory_).first(std::min(n, buffers.size()));
  if (const plan::Violation* violation = monitor_.begin(plan, given, plan::Monitor::Unit::byte)) {
    fail(*violation);
    return report_;
  }
  begin_fault();
  scheduler_.begin(plan, schedule);
  walk();
  check_guards();
  return report_;
}

void Simulator::walk() {
  while (const std::optional<plan::Move> move = scheduler_.next()) {
    if (dies()) {
      scheduler_.stop(*move);
      continue;
    }
    if (const plan::Violation* violation = monitor_.follow(*move)) {
      fail(*violation);
      return;
    }
    perform(*move);
  }
  for (int rank = 0; rank < plan_->ranks(); ++rank) {
    RankTimes& times = report_.ranks[spec::to_size(rank)];
    times.left_after_every_entry = times.left >= 0 && monitor_.left_after_every_entry(rank);
  }
  if (!scheduler_.finished()) fail(*monitor_.deadlock(scheduler_));
}

void Simulator::fail(const plan::Violation& violation) {
  report_.status = status_of(violation.kind);
  report_.text = violation.text;
}

void Simulator::begin_scratch(std::uint64_t seed) {
  scratch_bytes_.clear();
  for (int rank = 0; rank < plan_->ranks(); ++rank) {
    const std::int64_t elements = plan_->scratch[spec::to_size(rank)];
    scratch_bytes_.push_back(std::max<std::int64_t>(elements, 0) * element_bytes(rank));
  }
  arena_.begin(scratch_bytes_, seed, fault_.has_value());
  for (std::size_t r = 0; r < scratch_bytes_.size(); ++r) {
    bases_[r][spec::to_size(Buffer::scratch)] = arena_.scratch(r);
    memory_[r][Buffer::scratch] = extent_of(arena_.scratch(r), scratch_bytes_[r]);
  }
}

void Simulator::check_guards() {
  const std::optional<std::size_t> rank = arena_.find_damage();
  if (!rank) return;
  report_.status = Status::memory_violation;
  report_.text =
      "a guard zone beside the scratch of rank " + std::to_string(*rank) + " was overwritten";
}

bool Simulator::dies() {
  if (!fault_ || fault_->kind != Fault::Kind::dead_rank) return false;
  if (candidates_++ != fault_->target) return false;
  report_.fault_fired = report_.fault_changed = true;
  return true;
}

void Simulator::perform(const plan::Move& move) {
  const std::int64_t stamp = report_.moves++;
  const auto& program = plan_->steps[spec::to_size(move.rank)];
  const auto step = spec::to_size(move.step);
  if (move.step == plan::Move::entry) {
    enter(spec::to_size(move.rank), stamp);
  } else if (step < program.size()) {
    perform_step(move, program[step]);
  } else {
    report_.ranks[spec::to_size(move.rank)].left = stamp;
    if (held_ != nullptr) deliver_held(move.rank, nullptr);
  }
}

void Simulator::enter(std::size_t rank, std::int64_t stamp) {
  report_.ranks[rank].entered = stamp;
  if (rank >= buffers_.size() || buffers_[rank].arriving == nullptr) return;
  std::memcpy(
      buffers_[rank].send, buffers_[rank].arriving, spec::to_size(buffers_[rank].send_bytes));
}

void Simulator::perform_step(const plan::Move& move, const plan::Step& step) {
  if (moves_data(step)) {
    const bool message = is_message(*plan_, step);
    if (message) {
      ++report_.messages;
      report_.message_bytes += step.destination.count * element_bytes(step.destination.rank);
    }
    if (befalls(step, message)) {
      perform_faulty(move, step);
      return;
    }
    deliver(step, address(step.destination));
  }
  if (held_ != nullptr) deliver_held(move.rank, &step);
}

void Simulator::deliver(const plan::Step& step, std::byte* destination, bool stale) {
  sources_.clear();
  for (const plan::Range& source : plan_->sources_of(step)) {
    const bool premultiplies = plan_->is_premultiplied(source);
    sources_.push_back({
        .data = stale ? address_on_entry(source) : address(source),
        .scalar = premultiplies ? buffers_[spec::to_size(source.rank)].scalar : nullptr,
    });
  }
  const auto& [type, op] = plan_->arithmetic_of(step);
  combine({type, op, destination, sources_, step.destination.count, plan_->divisor_of(step)});
}

std::byte* Simulator::address(const plan::Range& range) const {
  return bases_[spec::to_size(range.rank)][spec::to_size(range.buffer)] +
         range.offset * element_bytes(range.rank);
}

const std::byte* Simulator::address_on_entry(const plan::Range& range) const {
  return snapshot_.data() + snapshot_at_[spec::to_size(range.rank)][spec::to_size(range.buffer)] +
         range.offset * element_bytes(range.rank);
}

void Simulator::begin_fault() {
  candidates_ = 0;
  held_ = nullptr;
  if (!fault_ || fault_->kind != Fault::Kind::stale) return;
  snapshot_.clear();
  snapshot_at_.resize(bases_.size());
  for (std::size_t r = 0; r < bases_.size(); ++r) {
    for (const Buffer buffer : {Buffer::send, Buffer::recv, Buffer::scratch}) {
      const std::byte* const base = bases_[r][spec::to_size(buffer)];
      snapshot_at_[r][spec::to_size(buffer)] = snapshot_.size();
      snapshot_.insert(snapshot_.end(), base, base + memory_[r][buffer].size());
    }
  }
}

bool Simulator::befalls(const plan::Step& step, bool message) {
  if (!fault_ || fault_->kind == Fault::Kind::dead_rank || step.destination.count == 0)
    return false;
  if (!message && fault_->kind != Fault::Kind::flip) return false;
  return candidates_++ == fault_->target;
}

void Simulator::perform_faulty(const plan::Move& move, const plan::Step& step) {
  report_.fault_fired = true;
  std::byte* const destination = address(step.destination);
  const auto size = spec::to_size(step.destination.count * element_bytes(step.destination.rank));
  payload_.resize(size);
  deliver(step, payload_.data());
  switch (fault_->kind) {
    case Fault::Kind::flip: {
      RANKCHECK_ASSERT(size > 0);
      plan::Random random(static_cast<std::uint64_t>(fault_->target));
      payload_[random.next() % size] ^= static_cast<std::byte>(1U << random.below(8));
      report_.fault_changed = true;
      std::memcpy(destination, payload_.data(), size);
      break;
    }
    case Fault::Kind::lost:
      report_.fault_changed = std::memcmp(destination, payload_.data(), size) != 0;
      break;
    case Fault::Kind::late:
      report_.fault_changed = std::memcmp(destination, payload_.data(), size) != 0;
      hold(move, step);
      break;
    case Fault::Kind::duplicate:
      std::memcpy(destination, payload_.data(), size);
      hold(move, step);
      break;
    case Fault::Kind::overrun:
      std::memcpy(destination, payload_.data(), size);
      overrun(step.destination);
      break;
    default:
      std::memcpy(destination, payload_.data(), size);
      deliver(step, payload_.data(), true);
      overwrite(destination);
      break;
  }
}

void Simulator::overrun(const plan::Range& range) {
  const auto rank = spec::to_size(range.rank);
  std::byte* const end =
      bases_[rank][spec::to_size(range.buffer)] + memory_[rank][range.buffer].size();
  std::for_each(end, end + Arena::guard_bytes, [](std::byte& byte) { byte ^= std::byte{0xff}; });
  report_.fault_changed = true;
}

void Simulator::hold(const plan::Move& move, const plan::Step& step) {
  held_ = &step;
  // The receiver of a put learns of the put through the sender's next signal.
  receiver_went_on_ = move.rank == step.destination.rank;
  const auto& program = plan_->steps[spec::to_size(move.rank)];
  const auto signal = std::find_if(program.begin() + move.step, program.end(), [](const auto& s) {
    return s.kind == StepKind::signal;
  });
  announced_by_ = signal == program.end() ? -1 : signal->event.id;
}

void Simulator::deliver_held(int rank, const plan::Step* step) {
  if (rank != held_->destination.rank) return;
  const bool leaves = step == nullptr;
  if (fault_->kind == Fault::Kind::duplicate) {
    if (leaves) overwrite(address(held_->destination));
    return;
  }
  // The message is late. A rank that has left has already read its output, so nothing is delivered
  // to it any more.
  if (leaves) {
    held_ = nullptr;
  } else if (step->kind == StepKind::wait) {
    receiver_went_on_ |= step->event.id == announced_by_;
  } else if (receiver_went_on_ && moves_data(*step)) {
    std::memcpy(address(held_->destination), payload_.data(), payload_.size());
    held_ = nullptr;
  }
}

void Simulator::overwrite(std::byte* destination) {
  report_.fault_changed = std::memcmp(destination, payload_.data(), payload_.size()) != 0;
  std::memcpy(destination, payload_.data(), payload_.size());
}

}  // namespace rankcheck::gpu::sim
