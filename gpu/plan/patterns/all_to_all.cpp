#include "gpu/plan/patterns/all_to_all.hpp"

#include <cstddef>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/patterns/communication_round.hpp"

namespace rankcheck::gpu::plan {

namespace {

/// The blocks that the ranks send. In place, these are copies in scratch memory, which are made
/// before any rank writes.
class Outgoing {
 public:
  explicit Outgoing(Builder& builder) : ranks_(builder.ranks()) {
    const bool in_place = builder.options().in_place;
    for (int r = 0; r < ranks_; ++r) {
      for (int q = 0; q < ranks_; ++q) {
        blocks_.push_back(builder.send(r, q));
        if (!in_place || q == r) continue;
        const Range copied = builder.scratch(r, blocks_.back().count);
        builder.copy(copied, blocks_.back());
        blocks_.back() = copied;
      }
    }
    if (in_place) wait_for_ranks(builder, 0, ranks_);
  }

  /// The block from rank r to rank q.
  [[nodiscard]] const Range& operator()(int r, int q) const {
    return blocks_[spec::to_size(r) * spec::to_size(ranks_) + spec::to_size(q)];
  }

 private:
  int ranks_;
  std::vector<Range> blocks_;
};

}  // namespace

void pairwise_all_to_all(Builder& builder) {
  const int n = builder.ranks();
  const Outgoing outgoing(builder);
  CommunicationRound round(builder);
  for (int distance = 0; distance < n; ++distance) {
    for (int r = 0; r < n; ++r) {
      const int q = (r + distance) % n;
      round.put(builder.recv(q, r), outgoing(r, q));
    }
    round.close();
  }
}

void bruck_all_to_all(Builder& builder) {
  const int n = builder.ranks();
  const auto size = spec::to_size(n);
  const Outgoing outgoing(builder);
  // at[r * n + way]: the present place of the block from rank r to rank r + way.
  std::vector<Range> at;
  at.reserve(size * size);
  for (int r = 0; r < n; ++r) {
    for (int way = 0; way < n; ++way) at.push_back(outgoing(r, (r + way) % n));
    builder.copy(builder.recv(r, r), builder.send(r, r));
  }
  CommunicationRound round(builder);
  for (int hop = 1; hop < n; hop *= 2) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const int r = static_cast<int>(i / size);
      const int way = static_cast<int>(i % size);
      if ((way & hop) == 0) continue;
      const bool is_last = way < 2 * hop;
      const Range target = is_last ? builder.recv((r + way) % n, r)
                                   : builder.scratch((at[i].rank + hop) % n, at[i].count);
      round.put(target, at[i]);
      at[i] = target;
    }
    round.close();
  }
}

}  // namespace rankcheck::gpu::plan
