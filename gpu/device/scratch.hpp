#pragma once

#include <cstdint>
#include <map>

#include "gpu/device/cluster.hpp"

namespace rankcheck::gpu {

/// An array on the device of each local rank. It is kept between uses, because a cluster gives no
/// memory back during a call. The content of a new or enlarged array is undefined.
template <class Value>
class Scratch {
 public:
  explicit Scratch(Cluster& cluster) : cluster_(cluster) {}

  /// Returns room for `count` values. It is the same memory as before unless more room is needed
  /// than ever before.
  [[nodiscard]] Value* get(int rank, std::int64_t count) {
    Array& array = arrays_[rank];
    if (array.values == nullptr || array.count < count) {
      array = {.values = cluster_.allocate_array<Value>(rank, count), .count = count};
    }
    return array.values;
  }
  /// Forgets the arrays, because the cluster has taken its memory back.
  void clear() { arrays_.clear(); }

 private:
  struct Array {
    Value* values = nullptr;
    std::int64_t count = 0;
  };

  Cluster& cluster_;
  std::map<int, Array> arrays_;
};

}  // namespace rankcheck::gpu
