#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "gpu/device/cluster.hpp"
#include "gpu/device/host/fft.hpp"
#include "gpu/device/host/memory.hpp"
#include "gpu/device/mpi/runtime.hpp"

namespace rankcheck::gpu::mpi {

/// The members of a group, one of which is this process. Kernels run as loops on its processor, and
/// collectives are those of MPI.
class MpiCluster final : public Cluster {
 public:
  using ContractLookup = const spec::Contract& (*)(std::string_view operation);

  MpiCluster(Runtime& runtime, ContractLookup contract_of)
      : runtime_(runtime), contract_of_(contract_of) {}

  /// Starts a call of the group. `group` lists the world ranks of the members; this process has
  /// rank `group_rank` in it.
  void begin(const std::vector<int>& group, int group_rank);
  /// Throws DeviceError if a guard zone of the device's memory was written.
  void end();

  [[nodiscard]] int ranks() const override { return static_cast<int>(group_.size()); }
  [[nodiscard]] std::span<const int> local() const override { return {&rank_, 1}; }
  std::byte* allocate(int rank, std::int64_t bytes) override;
  void read(int rank, const void* from, void* to, std::int64_t bytes) override;
  void write(int rank, const void* from, void* to, std::int64_t bytes) override;
  void transform(int rank, const Transform& transform, const void* in, void* out) override;
  void collective(std::string_view operation,
                  const spec::Call& call,
                  bool in_place,
                  std::span<const DeviceBuffers> buffers) override;

 private:
  Runtime& runtime_;
  ContractLookup contract_of_;
  std::vector<int> group_;
  int rank_ = 0;
  host::Memory memory_;
  host::Fft fft_;
};

}  // namespace rankcheck::gpu::mpi
