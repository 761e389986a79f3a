#pragma once

#include <vector>

#include "gpu/plan/patterns/place.hpp"

namespace rankcheck::gpu::plan {

/// Transfers that happen at the same time: first all ranks send, then they wait for the data sent
/// to them. Consecutive transfers between the same two ranks share one signal.
class CommunicationRound {
 public:
  explicit CommunicationRound(Builder& builder);

  /// Copies between any two ranks. The source's rank does the work. Does nothing if the destination
  /// is empty.
  void put(const Range& destination, const Range& source);
  /// Copies blocks from rank `from` to rank `to`. Adjacent blocks are copied as one range.
  void put(const Place& place, int from, int to, const Blocks& blocks);
  /// Makes `to` wait, at the end of the round, for everything that `from` has done before its next
  /// signal.
  void tell(int from, int to);
  /// Adds the waits of this round. The next round may begin afterwards.
  void close();

 private:
  struct Arrival {
    int rank = 0;
    Event event;
  };

  void signal_sent(int from);

  Builder* builder_;
  /// sending_to_[r]: the rank that r still has to signal; negative if there is none.
  std::vector<int> sending_to_;
  std::vector<Arrival> arrivals_;
};

/// Makes every rank wait for everything that the ranks first … last-1 have done so far, with one
/// signal from each of these ranks.
void wait_for_ranks(Builder& builder, int first, int last);

}  // namespace rankcheck::gpu::plan
