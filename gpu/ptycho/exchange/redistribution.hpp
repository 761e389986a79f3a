#pragma once

#include <cstdint>
#include <vector>

#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu {

/// Moves data of scan positions to the positions' owners and back. Arrays are those of the
/// cluster's local ranks, in their order.
class Redistribution {
 public:
  /// Rank q has the next counts[q] positions, in order. `owners` has the owner of every position.
  Redistribution(Cluster& cluster, std::vector<std::int64_t> counts, std::vector<int> owners);

  /// The number of positions that a rank owns.
  [[nodiscard]] std::int64_t owned(int rank) const;

  /// Moves `size` numbers of each position to its owner, and fills the rest of each shard with
  /// zeros. A shard has room for all positions.
  template <class T>
  void redistribute(const std::vector<const T*>& in,
                    const std::vector<T*>& shards,
                    std::int64_t size);

  /// Moves the numbers of each position back from its owner.
  template <class T>
  void fuse(const std::vector<const T*>& shards, const std::vector<T*>& out, std::int64_t size);

 private:
  /// The positions that rank `from` has and rank `to` owns, in order. They count from the first
  /// position of `from`.
  [[nodiscard]] std::vector<std::int64_t> moved(int from, int to) const;
  /// A rank's own positions in the order of their owners, as an array on its device.
  [[nodiscard]] const std::int64_t* sorted_by_owner(int rank);
  /// Exchanges the arrays between the ranks: from origin to owner with `to_owners`, else from owner
  /// to origin.
  template <class T>
  void exchange(const std::vector<const T*>& in,
                const std::vector<T*>& out,
                std::int64_t size,
                bool to_owners);

  Cluster& cluster_;
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> begins_;
  std::vector<int> owners_;
};

/// Runs the operation redistribute, or fuse unless `to_owners`.
void run_redistribution(const OperatorRun& run, bool to_owners);

}  // namespace rankcheck::gpu
