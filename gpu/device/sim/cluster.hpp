#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/spec/collective.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/host/fft.hpp"
#include "gpu/device/host/memory.hpp"
#include "gpu/device/sim/simulator.hpp"
#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/builder.hpp"

namespace rankcheck::gpu::sim {

/// Simulated devices, all in this process. Kernels run as loops, and collectives are plans that the
/// simulator checks. Keeps its memory and plans from call to call. An object serves one thread.
class SimCluster : public Cluster {
 public:
  using ContractLookup = std::function<const spec::Contract&(std::string_view operation)>;

  SimCluster(ContractLookup contract_of, plan::AlgorithmLookup algorithm_for)
      : contract_of_(std::move(contract_of)), algorithm_for_(algorithm_for) {}

  /// Starts a call of `ranks` ranks. Its collectives follow the schedule and may meet the fault.
  void begin(int ranks, plan::Schedule schedule, std::optional<Fault> fault);
  /// Lets a rank's device use memory of the caller until the next begin().
  void adopt(int rank, const std::byte* begin, std::int64_t bytes) {
    memories_[spec::to_size(rank)].adopt(begin, bytes);
  }
  /// Throws DeviceError if a guard zone of a device's memory was written.
  void end();
  /// The status of the last collective since begin().
  [[nodiscard]] Status status() const { return status_; }
  /// Whether the fault has fired, and whether it changed anything, since begin(); see Report.
  [[nodiscard]] bool fault_fired() const { return fault_fired_; }
  [[nodiscard]] bool fault_changed() const { return fault_changed_; }

  [[nodiscard]] int ranks() const override { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] std::span<const int> local() const override { return ranks_; }
  std::byte* allocate(int rank, std::int64_t bytes) override;
  void read(int rank, const void* from, void* to, std::int64_t bytes) override;
  void write(int rank, const void* from, void* to, std::int64_t bytes) override;
  void transform(int rank, const Transform& transform, const void* in, void* out) override;
  void collective(std::string_view operation,
                  const spec::Call& call,
                  bool in_place,
                  std::span<const DeviceBuffers> buffers) override;

 private:
  /// Throws DeviceError if a buffer of a call does not fit into the rank's memory.
  void check_room(std::size_t rank,
                  std::string_view operation,
                  const std::byte* buffer,
                  std::int64_t bytes) const;

  ContractLookup contract_of_;
  plan::AlgorithmLookup algorithm_for_;
  std::vector<int> ranks_;
  plan::Schedule schedule_;
  std::optional<Fault> fault_;
  Status status_ = Status::completed;
  bool fault_fired_ = false;
  bool fault_changed_ = false;
  std::vector<host::Memory> memories_;
  host::Fft fft_;
  plan::Builder builder_;
  plan::Plan plan_;
  Simulator simulator_;
  spec::Extents extents_;
  std::vector<RankBuffers> buffers_;
};

}  // namespace rankcheck::gpu::sim
