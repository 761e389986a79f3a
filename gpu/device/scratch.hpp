#pragma once

#include <cstdint>
#include <map>

#include "gpu/device/cluster.hpp"

namespace rankcheck::gpu {

/// An array on the device of each local rank, kept from use to use, because a cluster's memory is
/// never given back. Its content is undefined when it is new or grew.
template <class Value>
class Scratch {
 public:
  explicit Scratch(Cluster& cluster) : cluster_(cluster) {}

  /// Room for `count` values: the same memory as before, unless there is more to hold than ever.
  [[nodiscard]] Value* get(int rank, std::int64_t count) {
    Array& array = arrays_[rank];
    if (array.values == nullptr || array.count < count) {
      array = {.values = cluster_.allocate_array<Value>(rank, count), .count = count};
    }
    return array.values;
  }

 private:
  struct Array {
    Value* values = nullptr;
    std::int64_t count = 0;
  };

  Cluster& cluster_;
  std::map<int, Array> arrays_;
};

}  // namespace rankcheck::gpu
