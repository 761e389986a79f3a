#pragma once

#include <deque>
#include <string>

#include "reference/registry.hpp"

#include "gpu/device/sim/cluster.hpp"

#include "tests/gpu/device/guarded/memory.hpp"

namespace rankcheck::gpu {

/// Simulated devices whose memory only they can touch: a rank's kernels and transforms its own,
/// collectives that of all ranks, and this program none of it but through the cluster.
class GuardedCluster final : public Cluster {
 public:
  explicit GuardedCluster(int ranks)
      : memories_(static_cast<std::size_t>(ranks)), devices_(reference::contract_named) {
    devices_.begin(ranks, {}, {});
    for (int rank = 0; rank < ranks; ++rank) {
      devices_.adopt(rank, memory(rank).begin(), GuardedMemory::size);
    }
  }

  [[nodiscard]] int ranks() const override { return devices_.ranks(); }
  [[nodiscard]] std::span<const int> local() const override { return devices_.local(); }
  void* queue(int rank) override { return &memory(rank); }
  std::byte* allocate(int rank, std::int64_t bytes) override {
    return memory(rank).allocate(static_cast<std::size_t>(bytes));
  }
  void read(int rank, const void* from, void* to, std::int64_t bytes) override {
    const GuardedMemory::Open open(own(rank, from, bytes));
    devices_.read(rank, from, to, bytes);
  }
  void write(int rank, const void* from, void* to, std::int64_t bytes) override {
    const GuardedMemory::Open open(own(rank, to, bytes));
    devices_.write(rank, from, to, bytes);
  }
  void transform(int rank, const Transform& transform, const void* in, void* out) override {
    const GuardedMemory::Open open(&memory(rank));
    devices_.transform(rank, transform, in, out);
  }
  void collective(std::string_view operation,
                  const spec::Call& call,
                  bool in_place,
                  std::span<const DeviceBuffers> buffers) override {
    std::deque<GuardedMemory::Open> open;
    for (GuardedMemory& each : memories_) open.emplace_back(&each);
    devices_.collective(operation, call, in_place, buffers);
  }

 private:
  GuardedMemory& memory(int rank) { return memories_[static_cast<std::size_t>(rank)]; }

  /// The memory of a rank, which must have this.
  GuardedMemory* own(int rank, const void* begin, std::int64_t bytes) {
    if (bytes == 0 || memory(rank).has(begin, bytes)) return &memory(rank);
    throw DeviceError("rank " + std::to_string(rank) + ": a copy of what its device has not");
  }

  std::deque<GuardedMemory> memories_;
  sim::SimCluster devices_;
};

}  // namespace rankcheck::gpu
