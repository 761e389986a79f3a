#include "gpu/plan/patterns/communication_round.hpp"

#include <cstddef>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::plan {

CommunicationRound::CommunicationRound(Builder& builder)
    : builder_(&builder), sending_to_(spec::to_size(builder.ranks()), -1) {}

void CommunicationRound::put(const Range& destination, const Range& source) {
  if (destination.count == 0) return;
  if (destination.rank == source.rank) {
    builder_->copy(destination, source);
    return;
  }
  tell(source.rank, destination.rank);
  builder_->put(destination, source);
}

void CommunicationRound::put(const Place& place, int from, int to, const Blocks& blocks) {
  Range source;
  Range destination;
  for (int i = 0; i < blocks.count; ++i) {
    const int block = (blocks.first + i) % builder_->ranks();
    const Range next_source = place(from, block);
    const Range next_destination = place(to, block);
    if (continues(source, next_source) && continues(destination, next_destination)) {
      source.count += next_source.count;
      destination.count += next_destination.count;
    } else {
      put(destination, source);
      source = next_source;
      destination = next_destination;
    }
  }
  put(destination, source);
}

void CommunicationRound::tell(int from, int to) {
  int& sending_to = sending_to_[spec::to_size(from)];
  if (sending_to != to) signal_sent(from);
  sending_to = to;
}

void CommunicationRound::signal_sent(int from) {
  int& sending_to = sending_to_[spec::to_size(from)];
  if (sending_to < 0) return;
  arrivals_.push_back({sending_to, builder_->signal(from)});
  sending_to = -1;
}

void CommunicationRound::close() {
  for (int r = 0; r < builder_->ranks(); ++r) signal_sent(r);
  for (const Arrival& arrival : arrivals_) builder_->wait(arrival.rank, arrival.event);
  arrivals_.clear();
}

void wait_for_ranks(Builder& builder, int first, int last) {
  if (builder.ranks() == 1) return;
  std::vector<Event> done;
  for (int r = first; r < last; ++r) done.push_back(builder.signal(r));
  for (int r = first; r < last; ++r) {
    for (int q = 0; q < builder.ranks(); ++q) {
      if (q != r) builder.wait(q, done[spec::to_size(r - first)]);
    }
  }
}

}  // namespace rankcheck::gpu::plan
