#include "gpu/plan/patterns/reduce_scatter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/patterns/communication_round.hpp"
#include "gpu/plan/patterns/partials.hpp"

namespace rankcheck::gpu::plan {

namespace {

/// Two slots for each rank, used in turn. Each slot is large enough for any block.
class RingSlots {
 public:
  RingSlots(Builder& builder, const Place& in) {
    std::int64_t size = 0;
    for (int b = 0; b < builder.ranks(); ++b) size = std::max(size, in(0, b).count);
    for (int r = 0; r < builder.ranks(); ++r) {
      slots_.push_back({builder.scratch(r, size), builder.scratch(r, size)});
    }
  }

  [[nodiscard]] Range at(int rank, int step, std::int64_t count) const {
    return part(slots_[spec::to_size(rank)][spec::to_size(step % 2)], 0, count);
  }

 private:
  std::vector<std::array<Range, 2>> slots_;
};

}  // namespace

void ring_reduce_scatter(Builder& builder, const Place& in, const Place& out) {
  const int n = builder.ranks();
  if (n == 1) return builder.copy(out(0, 0), in(0, 0), true);
  const RingSlots slots(builder, in);
  const auto next = [n](int rank) { return spec::to_size((rank + 1) % n); };
  const auto previous = [n](int rank) { return spec::to_size((rank - 1 + n) % n); };
  // One event has two meanings: the data that rank r put have arrived, and the slot that r put them
  // from is free.
  std::vector<Event> passed_on;
  for (int step = 0; step + 1 < n; ++step) {
    std::vector<Event> passing_on;
    for (int r = 0; r < n; ++r) {
      Range partial = in(r, (r - 1 - step + n) % n);
      if (step > 0) {
        const Range slot = slots.at(r, step - 1, partial.count);
        builder.wait(r, passed_on[previous(r)]);
        builder.reduce(slot, {slot, partial});
        partial = slot;
      }
      if (step > 1) builder.wait(r, passed_on[next(r)]);
      const Range target = slots.at(static_cast<int>(next(r)), step, partial.count);
      passing_on.push_back(builder.send_to(target, partial));
    }
    passed_on.swap(passing_on);
  }
  for (int r = 0; r < n; ++r) {
    builder.wait(r, passed_on[previous(r)]);
    const Range own = in(r, r);
    builder.reduce(out(r, r), {slots.at(r, n - 2, own.count), own}, true);
  }
}

void recursive_halving_reduce_scatter(Builder& builder, const Place& in, const Place& out) {
  const int n = builder.ranks();
  const int groups = static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
  const int pairs = n - groups;
  // The first `pairs` groups are pairs of ranks, the other groups are single ranks. The first rank
  // of a group acts for the group.
  const auto first = [pairs](int group) { return group + std::min(group, pairs); };
  Partials partials(builder, in, n);
  for (int group = 0; group < pairs; ++group) {
    partials.send(first(group) + 1, first(group), 0, n);
  }
  for (int half = groups / 2; half > 0; half /= 2) {
    for (int group = 0; group < groups; ++group) {
      const int partner = group ^ half;
      const int start = partner - partner % half;
      partials.send(first(group), first(partner), first(start), first(start + half));
    }
  }
  for (int group = 0; group < groups; ++group) {
    for (int block = first(group); block < first(group + 1); ++block) {
      partials.deliver(out(block, block), first(group), block);
    }
  }
}

void reduce_from_peers(Builder& builder, const Range& out, const Place& in, int block) {
  std::vector<Range> sources;
  for (int q = 0; q < builder.ranks(); ++q) sources.push_back(in(q, block));
  builder.reduce(out, sources, true);
}

void reduce_scatter_from_peers(Builder& builder, const Place& in, const Place& out) {
  for (int r = 0; r < builder.ranks(); ++r) reduce_from_peers(builder, out(r, r), in, r);
}

void direct_reduce_scatter(Builder& builder, const Place& in, const Place& out) {
  reduce_scatter_from_peers(builder, in, out);
  wait_for_ranks(builder, 0, builder.ranks());
}

}  // namespace rankcheck::gpu::plan
