#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/device/cuda/streams.hpp"

namespace rankcheck::gpu::cuda {

/// Everything that keeps this process from using CUDA devices and cuFFT, and what would mend it: a
/// line each; empty where it can use them.
[[nodiscard]] std::vector<std::string> complaints();
/// The first complaint; empty where there is none.
[[nodiscard]] std::string why_unavailable();

/// Whether what is linked as CUDA's runtime works on host memory, as stand-ins for it do: they
/// define rankcheck_cuda_on_host.
[[nodiscard]] bool on_host();

/// The devices of one process: logical device d is physical device d mod P, with a stream and
/// memory of its own. A call's ranks are on some of them. Serves one thread.
class Devices final : public Streams {
 public:
  /// Makes so many logical devices, and lets the physical ones that they are on read and write each
  /// other's memory. Throws DeviceError, also where two of them cannot.
  explicit Devices(int count);
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;
  ~Devices() override;

  /// Starts a call whose rank r is on logical device members[r]; takes all memory back.
  void begin(std::span<const int> members);
  [[nodiscard]] int ranks() const { return static_cast<int>(members_.size()); }
  /// The logical device of a rank.
  [[nodiscard]] int device_of(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  /// Those of all ranks.
  [[nodiscard]] std::span<const int> members() const { return members_; }

  /// Makes the rank's device the one that calls of the runtime speak to, and returns its stream.
  cudaStream_t use(int rank) const;

  /// Memory of a rank's device, aligned to 256 bytes, until the next begin(); its content is
  /// undefined. Throws DeviceError where there is not enough, whatever is given back.
  std::byte* allocate(int rank, std::int64_t bytes);
  /// Frees what calls before have left of the memory of a rank's physical device: for what is not
  /// allocated here.
  void give_back_free_memory(int rank);
  /// What others do, where memory is short, to give back what they only keep; null for nothing.
  void when_short(std::function<void()> give_back) { give_back_kept_ = std::move(give_back); }

  /// Copies between this program and a rank's device in the order of the rank's stream; reading
  /// waits for the stream, and writing returns when `from` may change.
  void read(int rank, const void* from, void* to, std::int64_t bytes) const;
  void write(int rank, const void* from, void* to, std::int64_t bytes) const;

  /// Waits until all work of all ranks is done. Throws DeviceError where some of it failed.
  void synchronize() const;

  /// Waits for all devices; false where one of them does nothing any more, as after most errors of
  /// a kernel: only a fresh process can use it then.
  [[nodiscard]] bool still_work() const;

  /// Whether all devices have atomics on each other's memory, which stamp() needs.
  [[nodiscard]] bool can_stamp() const { return can_stamp_; }
  /// Enqueues on the rank's stream: waits so long, then draws the next number from *counter, which
  /// all ranks share, into *stamp.
  void stamp(int rank, std::int64_t delay_ns, std::int64_t* counter, std::int64_t* stamp) const;

  void combine(int rank,
               spec::Type type,
               spec::ReduceOp op,
               std::byte* destination,
               std::span<const Source> sources,
               std::int64_t count,
               int divisor) override;
  void record(int rank, std::int32_t event) override;
  void wait(int rank, std::int32_t event) override;
  void begin_capture(int rank) override;
  std::int32_t end_capture(int rank) override;
  void abandon_capture(int rank) noexcept override;
  void replay(int rank, std::int32_t graph) override;
  void drop(std::int32_t graph) override;

 private:
  struct Block {
    std::byte* begin = nullptr;
    std::int64_t bytes = 0;
    bool is_free = true;
  };
  struct Logical {
    int physical = 0;
    cudaStream_t stream = nullptr;
    std::vector<Block> blocks;
  };

  void let_devices_reach_each_other();
  std::byte* obtain(int rank, std::int64_t bytes);
  [[nodiscard]] const Logical& logical(int rank) const {
    return logical_[static_cast<std::size_t>(device_of(rank))];
  }

  std::vector<Logical> logical_;
  std::vector<int> members_;
  /// events_[physical device]: made there, by number; null until first recorded.
  std::vector<std::vector<cudaEvent_t>> events_;
  /// The event that a number stands for now.
  std::vector<cudaEvent_t> recorded_;
  /// By number; null where the number is free.
  std::vector<cudaGraphExec_t> graphs_;
  bool can_stamp_ = true;
  std::function<void()> give_back_kept_;
};

}  // namespace rankcheck::gpu::cuda
