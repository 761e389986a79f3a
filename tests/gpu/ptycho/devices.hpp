#pragma once

#include <cstdint>
#include <vector>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/cluster.hpp"

namespace rankcheck::gpu {

/// Simulated devices that count their allocations.
class Devices final : public Cluster {
 public:
  /// With a queue, the devices look like GPUs to launches. The queue may be any pointer.
  explicit Devices(int ranks, void* queue = nullptr)
      : cluster_(reference::contract_named, algorithm_for), queue_(queue) {
    cluster_.begin(ranks, {}, std::nullopt);
  }

  /// Returns a copy of the values on a rank's device.
  template <class Value>
  Value* put(int rank, const std::vector<Value>& values) {
    auto* const array = allocate_array<Value>(rank, static_cast<std::int64_t>(values.size()));
    write(rank, values.data(), array, bytes(values));
    return array;
  }
  /// Returns `count` values from a rank's device.
  template <class Value>
  [[nodiscard]] std::vector<Value> get(int rank, const Value* array, std::int64_t count) {
    std::vector<Value> values(spec::to_size(count));
    read(rank, array, values.data(), bytes(values));
    return values;
  }
  [[nodiscard]] int allocations() const { return allocations_; }

  [[nodiscard]] int ranks() const override { return cluster_.ranks(); }
  [[nodiscard]] std::span<const int> local() const override { return cluster_.local(); }
  void* queue(int /*rank*/) override { return queue_; }
  std::byte* allocate(int rank, std::int64_t bytes) override {
    ++allocations_;
    return cluster_.allocate(rank, bytes);
  }
  void read(int rank, const void* from, void* to, std::int64_t bytes) override {
    cluster_.read(rank, from, to, bytes);
  }
  void write(int rank, const void* from, void* to, std::int64_t bytes) override {
    cluster_.write(rank, from, to, bytes);
  }
  void transform(int rank, const Transform& transform, const void* in, void* out) override {
    cluster_.transform(rank, transform, in, out);
  }
  void collective(std::string_view operation,
                  const spec::Call& call,
                  bool in_place,
                  std::span<const DeviceBuffers> buffers) override {
    cluster_.collective(operation, call, in_place, buffers);
  }

 private:
  template <class Value>
  static std::int64_t bytes(const std::vector<Value>& values) {
    return static_cast<std::int64_t>(values.size() * sizeof(Value));
  }

  sim::SimCluster cluster_;
  void* queue_;
  int allocations_ = 0;
};

}  // namespace rankcheck::gpu
