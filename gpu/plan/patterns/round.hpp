#pragma once

#include <vector>

#include "gpu/plan/patterns/place.hpp"

namespace rankcheck::gpu::plan {

/// Transfers that happen at the same time: all ranks first send, then wait for what they are sent.
/// Consecutive transfers between the same two ranks share one signal.
class Round {
 public:
  explicit Round(Builder& builder);

  /// Copies between any two ranks; done by the source's rank. Nothing for an empty destination.
  void put(const Range& destination, const Range& source);
  /// Copies blocks from rank `from` to rank `to`, neighbouring ones as one.
  void put(const Place& place, int from, int to, const Blocks& blocks);
  /// Lets `to` wait for all that `from` did so far.
  void tell(int from, int to);
  /// Adds the waits. Then the next round may begin.
  void close();

 private:
  struct Arrival {
    int rank = 0;
    Event event;
  };

  void signal_sent(int from);

  Builder* builder_;
  /// sending_to_[r]: the rank that must still be told what r sent; negative when there is none.
  std::vector<int> sending_to_;
  std::vector<Arrival> arrivals_;
};

/// Lets every rank wait for all that the ranks first … last-1 did so far, with one signal each.
void wait_for_ranks(Builder& builder, int first, int last);

}  // namespace rankcheck::gpu::plan
