#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu {

/// The way of what belongs to scan positions to the positions' owners, and back. Arrays are those
/// of the cluster's local ranks, in their order.
class Redistribution {
 public:
  /// Rank q has counts[q] of the positions, in order; `owners` are those of all positions.
  Redistribution(Cluster& cluster, std::vector<std::int64_t> counts, std::vector<int> owners);

  /// Positions that a rank owns.
  [[nodiscard]] std::int64_t owned(int rank) const;

  /// Moves `size` numbers of each position to its owner; fills shards up with zeros. A shard has
  /// room for all positions.
  template <class T>
  void redistribute(const std::vector<const T*>& in,
                    const std::vector<T*>& shards,
                    std::int64_t size);

  /// Moves them back.
  template <class T>
  void fuse(const std::vector<const T*>& shards, const std::vector<T*>& out, std::int64_t size);

 private:
  /// Positions that rank `from` has and rank `to` owns, in order, counted from the first of `from`.
  [[nodiscard]] std::vector<std::int64_t> moved(int from, int to) const;
  /// What a rank has, in the order of the owners: places among its own positions.
  [[nodiscard]] const std::int64_t* sorted_by_owner(int rank);
  /// Exchanges what is sorted by owner with what is sorted by origin.
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

/// The owners of all positions, which every rank has, as this process's first rank knows them.
template <class T>
[[nodiscard]] std::vector<int> owners_of(const OperatorRun& run) {
  const int rank = run.local().front();
  std::vector<T> read(static_cast<std::size_t>(run.size(rank, spec::Array::owners)));
  run.cluster().read(rank,
                     run.in<T>(rank, spec::Array::owners),
                     read.data(),
                     static_cast<std::int64_t>(read.size() * sizeof(T)));
  return {read.begin(), read.end()};
}

/// An array of all local ranks: an input where T is const, else an output.
template <class T>
[[nodiscard]] std::vector<T*> arrays(const OperatorRun& run, spec::Array array) {
  std::vector<T*> all;
  for (const int rank : run.local()) {
    if constexpr (std::is_const_v<T>) {
      all.push_back(run.in<std::remove_const_t<T>>(rank, array));
    } else {
      all.push_back(run.out<T>(rank, array));
    }
  }
  return all;
}

}  // namespace rankcheck::gpu
