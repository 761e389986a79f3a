#include "gpu/plan/builder.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "reference/spec/assert.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::plan {

void Builder::begin(Plan& plan,
                    const spec::Contract& contract,
                    const spec::Call& call,
                    const Options& options) {
  RANKCHECK_ASSERT(call.ranks > 0);
  plan_ = &plan;
  call_ = &call;
  options_ = options;
  const auto n = spec::to_size(call.ranks);
  plan.reset(call.ranks);
  plan.arithmetic.assign(n, {call.type, call.op});
  plan.divisors.assign(n, static_cast<int>(spec::terms(contract, call)));
  extents_.resize(n);
  for (std::size_t r = 0; r < n; ++r) {
    spec::Extents& extents = extents_[r];
    extents.send.clear();
    extents.recv.clear();
    extents.send_size = extents.recv_size = 0;
    fill_extents(contract, call, static_cast<int>(r), extents);
  }
  entered_.assign(n * n, false);
  signallers_.resize(n);
  std::iota(signallers_.begin(), signallers_.end(), 0);
}

Range Builder::block_of(int rank, Buffer buffer, int block) const {
  const std::vector<spec::Block>& blocks =
      buffer == Buffer::send ? extents(rank).send : extents(rank).recv;
  RANKCHECK_ASSERT(block >= 0 && spec::to_size(block) < blocks.size());
  const spec::Block& b = blocks[spec::to_size(block)];
  return {rank, buffer, b.offset, b.count};
}

Range Builder::scratch(int rank, std::int64_t count) {
  RANKCHECK_ASSERT(rank >= 0 && rank < ranks() && count >= 0);
  std::int64_t& size = plan_->scratch[spec::to_size(rank)];
  const Range range{rank, Buffer::scratch, size, count};
  size += count;
  return range;
}

void Builder::add(int rank,
                  StepKind kind,
                  const Range& destination,
                  std::span<const Range> sources,
                  bool finish) {
  if (destination.count == 0) return;
  RANKCHECK_ASSERT(rank >= 0 && rank < ranks());
  wait_for_entry(rank, destination.rank);
  for (const Range& source : sources) wait_for_entry(rank, source.rank);
  const auto first = static_cast<std::uint32_t>(plan_->sources.size());
  plan_->sources.insert(plan_->sources.end(), sources.begin(), sources.end());
  plan_->steps[spec::to_size(rank)].push_back(
      {.kind = kind,
       .finish = finish,
       .event = {},
       .destination = destination,
       .first_source = first,
       .source_count = static_cast<std::uint32_t>(sources.size())});
}

void Builder::copy(const Range& destination, const Range& source, bool finish) {
  RANKCHECK_ASSERT(destination.rank == source.rank);
  add(destination.rank, StepKind::copy, destination, {&source, 1}, finish);
}

void Builder::put(const Range& destination, const Range& source, bool finish) {
  add(source.rank, StepKind::put, destination, {&source, 1}, finish);
}

Event Builder::send_to(const Range& destination, const Range& source, bool finish) {
  if (destination.rank == source.rank) {
    copy(destination, source, finish);
  } else {
    put(destination, source, finish);
  }
  return signal(source.rank);
}

void Builder::reduce(const Range& destination, std::span<const Range> sources, bool finish) {
  add(destination.rank, StepKind::reduce, destination, sources, finish);
}

Event Builder::signal(int rank) {
  RANKCHECK_ASSERT(rank >= 0 && rank < ranks());
  const Event event{plan_->events++};
  signallers_.push_back(rank);
  plan_->steps[spec::to_size(rank)].push_back(
      {.kind = StepKind::signal, .finish = false, .event = event, .destination = {}});
  return event;
}

void Builder::wait(int rank, Event event) {
  RANKCHECK_ASSERT(rank >= 0 && rank < ranks() && event.id >= 0);
  // A rank that signals has entered. The plan may not have the event yet: then nothing is known.
  const auto id = spec::to_size(event.id);
  if (id < signallers_.size()) has_entered(rank, signallers_[id]) = true;
  plan_->steps[spec::to_size(rank)].push_back(
      {.kind = StepKind::wait, .finish = false, .event = event, .destination = {}});
}

void Builder::wait_for_entry(int rank, int other) {
  if (rank == other) return;
  if (!has_entered(rank, other)) wait(rank, Event{other});
}

std::vector<bool>::reference Builder::has_entered(int rank, int other) {
  RANKCHECK_ASSERT(other >= 0 && other < ranks());
  return entered_[spec::to_size(rank) * spec::to_size(ranks()) + spec::to_size(other)];
}

Range part(const Range& range, std::int64_t offset, std::int64_t count) {
  return {range.rank, range.buffer, range.offset + offset, count};
}

spec::Block nearly_equal(std::int64_t count, int parts, int index) {
  const std::int64_t size = count / parts;
  const std::int64_t longer = count % parts;
  return {index * size + std::min<std::int64_t>(index, longer), size + (index < longer ? 1 : 0)};
}

}  // namespace rankcheck::gpu::plan
