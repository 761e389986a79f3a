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

#include "reference/spec/to_size.hpp"

#include "gpu/device/cuda/streams.hpp"

namespace rankcheck::gpu::cuda {

/// Everything that keeps this process from using CUDA devices and cuFFT, and how to mend it: one
/// entry of one line for each problem. Empty if both can be used.
[[nodiscard]] std::vector<std::string> complaints();
/// The first complaint; empty if there is none.
[[nodiscard]] std::string why_unavailable();

/// Whether the linked CUDA runtime is a stand-in that works on host memory. A stand-in defines
/// rankcheck_cuda_on_host.
[[nodiscard]] bool on_host();

/// The devices of one process. Logical device d is physical device (first + d) mod P, with a stream
/// and memory of its own. The ranks of a call are on some of the logical devices. An object serves
/// one thread.
class Devices final : public Streams {
 public:
  /// Makes `count` logical devices, and gives the physical devices that they use access to each
  /// other's memory. Throws DeviceError on failure, also if two of the devices cannot access each
  /// other.
  explicit Devices(int count, int first = 0);
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;
  ~Devices() override;

  /// Starts a call whose rank r is on logical device members[r]. Takes back all memory of the call
  /// before.
  void begin(std::span<const int> members);
  [[nodiscard]] int ranks() const { return static_cast<int>(members_.size()); }
  /// The logical device of a rank.
  [[nodiscard]] int device_of(int rank) const { return members_[spec::to_size(rank)]; }
  /// The logical devices of all ranks.
  [[nodiscard]] std::span<const int> members() const { return members_; }

  /// Makes the rank's device the current device of the CUDA runtime, and returns its stream.
  cudaStream_t use(int rank) const;

  /// Allocates memory of a rank's device, aligned to 256 bytes and valid until the next begin().
  /// Its content is undefined. Throws DeviceError if there is not enough memory even after all kept
  /// memory is given back.
  std::byte* allocate(int rank, std::int64_t bytes);
  /// Frees the unused memory that earlier calls left on a rank's physical device, so that
  /// allocations outside this class find room.
  void give_back_free_memory(int rank);
  /// Sets a function that frees memory which others only keep. It is called when memory is short;
  /// null for none.
  void when_short(std::function<void()> give_back) { give_back_kept_ = std::move(give_back); }

  /// Copy between this program and a rank's device in the order of the rank's stream. `read` waits
  /// for the stream. `write` returns when `from` may change.
  void read(int rank, const void* from, void* to, std::int64_t bytes) const;
  void write(int rank, const void* from, void* to, std::int64_t bytes) const;

  /// Enqueues a copy inside the memory of a rank's device on the rank's stream.
  void copy(int rank, const void* from, void* to, std::int64_t bytes) const;

  /// Waits until all work of all ranks is done. Throws DeviceError if some of it failed.
  void synchronize() const;

  /// Waits for all devices. Returns false if one of them no longer works, as after most errors of a
  /// kernel: then only a new process can use the device.
  [[nodiscard]] bool still_work() const;

  /// Whether all devices have atomic operations on each other's memory, which stamp() needs.
  [[nodiscard]] bool can_stamp() const { return can_stamp_; }
  /// Enqueues on the rank's stream: waits `delay_ns` nanoseconds, then takes the next number from
  /// *counter, which all ranks share, and writes it to *stamp.
  void stamp(int rank, std::int64_t delay_ns, std::int64_t* counter, std::int64_t* stamp) const;

  void combine(int rank, const Combination& what) override;
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
    return logical_[spec::to_size(device_of(rank))];
  }

  std::vector<Logical> logical_;
  std::vector<int> members_;
  /// events_[physical device][number]: an event of that device; null until first recorded.
  std::vector<std::vector<cudaEvent_t>> events_;
  /// recorded_[number]: the event that the number stands for now.
  std::vector<cudaEvent_t> recorded_;
  /// graphs_[number]: null if the number is free.
  std::vector<cudaGraphExec_t> graphs_;
  bool can_stamp_ = true;
  std::function<void()> give_back_kept_;
};

}  // namespace rankcheck::gpu::cuda
