#pragma once

#include <cstdint>
#include <vector>

#include "gpu/plan/patterns/place.hpp"

namespace rankcheck::gpu::plan {

/// Blocks that are being combined. Each rank starts with its own contribution to every block. Every
/// partial result that it receives gets scratch memory of its own, so that no slot is reused. When
/// the rank passes a block on, it waits for all partial results of the block and combines them at
/// once.
class Partials {
 public:
  /// in(r, b) is the contribution of rank r to block b of `blocks`. It is read once.
  Partials(Builder& builder, Place in, int blocks);

  /// Rank `from` passes its partial result of the blocks first … last-1 on to rank `to`.
  void send(int from, int to, int first, int last);
  /// Writes the finished result of `block` to `out`. The result is complete at rank `owner`. `out`
  /// may be in the memory of any rank; its rank then waits for the result.
  void deliver(const Range& out, int owner, int block);

 private:
  struct Inbox {
    Range memory;
    int first = 0;
    int last = 0;
    Event arrival;
    bool waited = false;
  };

  /// Fills sources_ with all partial results that `rank` has for these blocks, and adds the waits
  /// for them. The blocks must be contiguous in `in`.
  void collect(int rank, int first, int last);
  /// Returns one range with the combined blocks: the rank's own contribution, or memory of the
  /// first inbox.
  Range combine(int rank, int first, int last);
  [[nodiscard]] std::int64_t count(int first, int last) const;

  Builder* builder_;
  Place in_;
  /// offsets_[b]: the number of elements in the blocks before b.
  std::vector<std::int64_t> offsets_;
  /// inboxes_[r]: the partial results that were sent to rank r.
  std::vector<std::vector<Inbox>> inboxes_;
  std::vector<Range> sources_;
};

}  // namespace rankcheck::gpu::plan
