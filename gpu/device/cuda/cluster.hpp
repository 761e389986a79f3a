#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <cufft.h>

#include "reference/spec/collective.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/cuda/devices.hpp"
#include "gpu/device/cuda/graphs.hpp"
#include "gpu/device/scratch.hpp"
#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/builder.hpp"

namespace rankcheck::gpu::cuda {

/// The ranks of one process on CUDA devices. Kernels and transforms run on the ranks' streams, and
/// collectives are plans on these streams. Keeps its memory, its captured graphs and cuFFT's plans
/// from call to call.
class CudaCluster final : public Cluster {
 public:
  using ContractLookup = std::function<const spec::Contract&(std::string_view operation)>;

  /// `devices` must outlive the cluster. When `devices` runs short of memory, it destroys the
  /// cluster's cuFFT plans.
  CudaCluster(Devices& devices, ContractLookup contract_of, plan::AlgorithmLookup algorithm_for)
      : devices_(devices),
        contract_of_(std::move(contract_of)),
        algorithm_for_(algorithm_for),
        graphs_(devices) {
    devices_.when_short([this] { forget_transforms(); });
  }
  CudaCluster(const CudaCluster&) = delete;
  CudaCluster& operator=(const CudaCluster&) = delete;
  ~CudaCluster() override;

  /// Starts a call whose rank r is on logical device members[r].
  void begin(std::span<const int> members);

  [[nodiscard]] int ranks() const override { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] std::span<const int> local() const override { return ranks_; }
  void* queue(int rank) override { return devices_.use(rank); }
  std::byte* allocate(int rank, std::int64_t bytes) override {
    return devices_.allocate(rank, bytes);
  }
  void read(int rank, const void* from, void* to, std::int64_t bytes) override {
    devices_.read(rank, from, to, bytes);
  }
  void write(int rank, const void* from, void* to, std::int64_t bytes) override {
    devices_.write(rank, from, to, bytes);
  }
  void transform(int rank, const Transform& transform, const void* in, void* out) override;
  void collective(std::string_view operation,
                  const spec::Call& call,
                  bool in_place,
                  std::span<const DeviceBuffers> buffers) override;

 private:
  /// Logical device, precision, width, batch. The device is part of the key because a plan's work
  /// area belongs to one stream.
  using Key = std::tuple<int, spec::Type, int, std::int64_t>;

  /// A plan occupies device memory, so the number of kept plans is limited.
  static constexpr std::size_t transforms_max = 256;

  cufftHandle plan_for(int rank, const Transform& transform);
  /// A transform of frames of one pixel: a copy.
  void copy_frames(int rank, const Transform& transform, const void* in, void* out);
  void forget_transforms();

  Devices& devices_;
  ContractLookup contract_of_;
  plan::AlgorithmLookup algorithm_for_;
  std::vector<int> ranks_;
  /// Memory for the scratch buffers of plans.
  Scratch<std::byte> scratch_{*this};
  std::map<Key, cufftHandle> transforms_;
  Graphs graphs_;
  plan::Builder builder_;
  plan::Plan plan_;
};

}  // namespace rankcheck::gpu::cuda
