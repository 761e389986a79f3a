#pragma once

#include <cstdint>
#include <vector>

#include "reference/spec/share.hpp"

#include "gpu/ptycho/tiles.hpp"

namespace rankcheck::gpu {

/// How an object lies on the ranks, and what the ranks do together with arrays that lie like it.
/// Arrays are those of the local ranks, in their order.
class ObjectShares {
 public:
  ObjectShares(Cluster& cluster, const spec::Scene& scene, std::vector<spec::Box> held);

  /// What a rank holds.
  [[nodiscard]] const spec::Box& held(int rank) const { return exchange_.held(rank); }
  /// 1 for each pixel that a local rank counts where each is to count once: those that no lower
  /// rank holds; 0 for the others.
  [[nodiscard]] const std::uint8_t* counted(int rank) { return counted_.get(rank, 0); }

  /// Sums the copies of each pixel over the ranks that hold it, in rank order, of Complex<T> or T;
  /// `in` and `out` differ. Afterwards all copies of a pixel have the same bits.
  template <class Value>
  void sum(const std::vector<Value*>& in, const std::vector<Value*>& out);

 private:
  Cluster& cluster_;
  TileExchange exchange_;
  bool is_replicated_;
  Scratch<std::uint8_t> counted_;
};

}  // namespace rankcheck::gpu
