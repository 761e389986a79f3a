#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include <cufft.h>

#include "reference/spec/contract.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/cuda/devices.hpp"
#include "gpu/device/cuda/graphs.hpp"
#include "gpu/plan/builder.hpp"

namespace rankcheck::gpu::cuda {

/// The ranks of one process on CUDA devices: kernels and transforms on the ranks' streams,
/// collectives as plans over them. Keeps its memory, its plans and cuFFT's from call to call.
class CudaCluster final : public Cluster {
 public:
  using ContractLookup = std::function<const spec::Contract&(std::string_view operation)>;

  /// `devices` must outlive the cluster, and takes the memory of cuFFT's plans where its own is
  /// short.
  CudaCluster(Devices& devices, ContractLookup contract_of)
      : devices_(devices), contract_of_(std::move(contract_of)), graphs_(devices) {
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
  /// logical device, precision, width, batch: a plan's work area belongs to one stream.
  using Key = std::tuple<int, spec::Type, int, std::int64_t>;

  /// Memory that the plans' steps share, from call to call.
  struct Scratch {
    std::byte* begin = nullptr;
    std::int64_t bytes = 0;
  };

  /// Plans hold memory of devices; shapes without end would use it up.
  static constexpr std::size_t transforms_max = 256;

  cufftHandle plan_for(int rank, const Transform& transform);
  /// What a transform of single pixels does.
  void copy_frames(int rank, const Transform& transform, const void* in, void* out);
  void forget_transforms();

  Devices& devices_;
  ContractLookup contract_of_;
  std::vector<int> ranks_;
  std::vector<Scratch> scratch_;
  std::map<Key, cufftHandle> transforms_;
  Graphs graphs_;
  plan::Builder builder_;
  plan::Plan plan_;
};

}  // namespace rankcheck::gpu::cuda
