#include "gpu/plan/patterns/partials.hpp"

#include <cstddef>
#include <utility>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::plan {

Partials::Partials(Builder& builder, Place in, int blocks)
    : builder_(&builder),
      in_(std::move(in)),
      offsets_{0},
      inboxes_(spec::to_size(builder.ranks())) {
  for (int b = 0; b < blocks; ++b) offsets_.push_back(offsets_.back() + in_(0, b).count);
}

std::int64_t Partials::count(int first, int last) const {
  return offsets_[spec::to_size(last)] - offsets_[spec::to_size(first)];
}

void Partials::collect(int rank, int first, int last) {
  sources_.assign(1, part(in_(rank, first), 0, count(first, last)));
  for (Inbox& inbox : inboxes_[spec::to_size(rank)]) {
    if (first >= inbox.last || last <= inbox.first) continue;
    if (!inbox.waited) builder_->wait(rank, inbox.arrival);
    inbox.waited = true;
    sources_.push_back(part(inbox.memory, count(inbox.first, first), count(first, last)));
  }
}

Range Partials::combine(int rank, int first, int last) {
  collect(rank, first, last);
  if (sources_.size() == 1) return sources_.front();
  const Range result = sources_[1];
  builder_->reduce(result, sources_);
  return result;
}

void Partials::send(int from, int to, int first, int last) {
  const Range memory = builder_->scratch(to, count(first, last));
  for (int start = first; start < last;) {
    int end = start + 1;
    while (end < last && continues(in_(from, end - 1), in_(from, end))) ++end;
    builder_->put(part(memory, count(first, start), count(start, end)), combine(from, start, end));
    start = end;
  }
  inboxes_[spec::to_size(to)].push_back(
      {.memory = memory, .first = first, .last = last, .arrival = builder_->signal(from)});
}

void Partials::deliver(const Range& out, int owner, int block) {
  if (out.rank == owner) {
    collect(owner, block, block + 1);
    builder_->reduce(out, sources_, true);
  } else {
    const Event arrival = builder_->send_to(out, combine(owner, block, block + 1), true);
    builder_->wait(out.rank, arrival);
  }
}

}  // namespace rankcheck::gpu::plan
