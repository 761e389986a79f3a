#pragma once

#include <cstdint>
#include <vector>

#include "reference/spec/share.hpp"

#include "gpu/ptycho/exchange/tiles.hpp"

namespace rankcheck::gpu {

/// Describes how an object is distributed over the ranks, and sums arrays with the same
/// distribution. Arrays are those of the local ranks, in their order.
class ObjectShares {
 public:
  ObjectShares(Cluster& cluster, const spec::Scene& scene, const std::vector<spec::Box>& held);

  /// The pixels that a rank holds.
  [[nodiscard]] const spec::Box& held(int rank) const { return exchange_.held(rank); }
  /// An array for the pixels of a local rank, so that sums over all ranks count each pixel once. It
  /// is 1 if no lower rank holds the pixel, else 0.
  [[nodiscard]] const std::uint8_t* counted(int rank) { return counted_.get(rank, 0); }

  /// Sums the copies of each pixel over the ranks that hold it, in rank order unless all ranks hold
  /// the whole object. Value is T or Complex<T>; the arrays of `in` and `out` must differ.
  /// Afterwards all copies of a pixel have the same bits.
  template <class Value>
  void sum(const std::vector<Value*>& in, const std::vector<Value*>& out);

 private:
  Cluster& cluster_;
  TileExchange exchange_;
  bool is_replicated_;
  Scratch<std::uint8_t> counted_;
};

}  // namespace rankcheck::gpu
