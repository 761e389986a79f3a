#pragma once

#include <cstdint>
#include <vector>

#include "reference/registry.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/cluster.hpp"

namespace rankcheck::gpu {

/// Simulated devices that count their allocations.
class Devices final : public sim::SimCluster {
 public:
  /// With a queue, the devices look like GPUs to launches. The queue may be any pointer.
  explicit Devices(int ranks, void* queue = nullptr)
      : SimCluster(reference::contract_named, algorithm_for), queue_(queue) {
    begin(ranks, {}, std::nullopt);
  }

  /// Returns a copy of the values on a rank's device.
  template <class Value>
  Value* put(int rank, const std::vector<Value>& values) {
    auto* const array = allocate_array<Value>(rank, static_cast<std::int64_t>(values.size()));
    write_array(rank, values, array);
    return array;
  }
  [[nodiscard]] int allocations() const { return allocations_; }

  void* queue(int /*rank*/) override { return queue_; }
  std::byte* allocate(int rank, std::int64_t bytes) override {
    ++allocations_;
    return SimCluster::allocate(rank, bytes);
  }

 private:
  void* queue_;
  int allocations_ = 0;
};

}  // namespace rankcheck::gpu
