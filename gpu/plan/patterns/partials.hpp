#pragma once

#include <cstdint>
#include <vector>

#include "gpu/plan/patterns/place.hpp"

namespace rankcheck::gpu::plan {

/// Blocks on their way to being combined. Each rank starts with its own contribution to every block
/// and collects partial results in scratch memory of their own, so that no slot is ever reused;
/// they are waited for and combined, all at once, when the rank passes the block on.
class Partials {
 public:
  /// in(r, b): the contribution of rank r to block b of `blocks`; read once.
  Partials(Builder& builder, Place in, int blocks);

  /// Rank `from` hands its part of the blocks first … last-1 over to rank `to`.
  void send(int from, int to, int first, int last);
  /// Writes the result, complete at rank `owner`, to `out`, the memory of any rank, which waits for
  /// it.
  void deliver(const Range& out, int owner, int block);

 private:
  struct Inbox {
    Range memory;
    int first = 0;
    int last = 0;
    Event arrival;
    bool waited = false;
  };

  /// Fills sources_ with all that `rank` has for these blocks, which lie in a row in `in`.
  void collect(int rank, int first, int last);
  /// One range that holds all of it: the contribution itself, or the first inbox.
  Range combine(int rank, int first, int last);
  [[nodiscard]] std::int64_t count(int first, int last) const;

  Builder* builder_;
  Place in_;
  /// offsets_[b]: elements of the blocks before b.
  std::vector<std::int64_t> offsets_;
  /// inboxes_[r]: what was sent to rank r.
  std::vector<std::vector<Inbox>> inboxes_;
  std::vector<Range> sources_;
};

}  // namespace rankcheck::gpu::plan
