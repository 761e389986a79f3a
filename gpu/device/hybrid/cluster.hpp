#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/spec/collective.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/hybrid/devices.hpp"
#include "gpu/device/hybrid/members.hpp"
#include "gpu/device/hybrid/placement.hpp"
#include "gpu/device/hybrid/plan_runner.hpp"
#include "gpu/device/hybrid/processes.hpp"
#include "gpu/device/scratch.hpp"
#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/builder.hpp"

namespace rankcheck::gpu::hybrid {

/// The members of a group that this process hosts, one on each of some of its devices. Other
/// processes host the other members. Kernels and transforms run on the devices, and collectives are
/// plans that all these processes run together.
class HybridCluster final : public Cluster {
 public:
  using ContractLookup = const spec::Contract& (*)(std::string_view operation);

  /// `processes` and `devices` must outlive the cluster.
  HybridCluster(Processes& processes,
                Devices& devices,
                const Placement& placement,
                ContractLookup contract_of,
                plan::AlgorithmLookup algorithm_for);
  HybridCluster(const HybridCluster&) = delete;
  HybridCluster& operator=(const HybridCluster&) = delete;

  /// Starts a call of the group, or calls that are under way at the same time: then the ranks of
  /// the first call come first, then those of the second, and so on. `group` lists the world ranks
  /// of all members. The process must host at least one of them.
  void begin(std::span<const int> group);
  /// Throws DeviceError if memory outside the devices' allocated memory was written. Only simulated
  /// devices notice it.
  void end();

  [[nodiscard]] int ranks() const override { return static_cast<int>(members_.size()); }
  [[nodiscard]] std::span<const int> local() const override { return local_; }
  void* queue(int rank) override { return devices_.cluster().queue(place_of(rank)); }
  std::byte* allocate(int rank, std::int64_t bytes) override {
    return devices_.cluster().allocate(place_of(rank), bytes);
  }
  void read(int rank, const void* from, void* to, std::int64_t bytes) override {
    devices_.cluster().read(place_of(rank), from, to, bytes);
  }
  void write(int rank, const void* from, void* to, std::int64_t bytes) override {
    devices_.cluster().write(place_of(rank), from, to, bytes);
  }
  void transform(int rank, const Transform& transform, const void* in, void* out) override {
    devices_.cluster().transform(place_of(rank), transform, in, out);
  }
  /// Performs the call with the first algorithm that takes it. Messages are staged.
  void collective(std::string_view operation,
                  const spec::Call& call,
                  bool in_place,
                  std::span<const DeviceBuffers> buffers) override;

  /// A collective call with a given algorithm.
  struct CollectiveCall {
    const spec::Contract& contract;
    const spec::Call& call;
    const plan::Options& options;
    const plan::Algorithm& algorithm;
    Transport transport = Transport::staged;
  };
  /// The memory of a local rank in a collective call.
  struct Buffers {
    DeviceBuffers data = {};
    /// One element on the rank's device if the op is premul_sum.
    const std::byte* scalar = nullptr;
  };
  /// Tells when local ranks enter and leave a call. Functions may be null.
  struct Observer {
    std::function<void(int rank)> entering = nullptr;
    std::function<void(int rank)> left = nullptr;
  };
  /// A call that ends and one that begins behind it, by their ranks; see plan::Plan::order.
  using Order = std::span<const std::pair<int, int>>;
  /// Performs collective calls, some of them in an order. `buffers` are in the order of local().
  void perform(std::span<const CollectiveCall> calls,
               Order order,
               std::span<const Buffers> buffers,
               const Observer& observer);

 private:
  [[nodiscard]] int place_of(int rank) const;

  Processes& processes_;
  Devices& devices_;
  Placement placement_;
  ContractLookup contract_of_;
  plan::AlgorithmLookup algorithm_for_;
  PlanRunner runner_;
  std::vector<Member> members_;
  std::vector<int> local_;
  /// Memory for the scratch buffers of plans.
  Scratch<std::byte> scratch_{*this};
  plan::Builder builder_;
  /// The plans of several calls, before they are merged.
  std::vector<plan::Plan> plans_;
  plan::Plan plan_;
};

}  // namespace rankcheck::gpu::hybrid
