#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::nccl {

/// The devices of one process, with a slot for each of its ranks: memory, a stream, and waiting.
/// This is all that the backend needs of CUDA, so a version on host memory can replace it.
class Devices {
 public:
  explicit Devices(int slots) : blocks_(spec::to_size(slots)) {}
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;
  virtual ~Devices() = default;

  /// Makes the slot's device the current one for NCCL's calls.
  virtual void use(int slot) = 0;
  /// The slot's stream in the form that NCCL takes.
  [[nodiscard]] virtual cudaStream_t stream(int slot) = 0;
  /// Whether all work given to the slot's stream is done. Throws DeviceError if some of it failed.
  [[nodiscard]] virtual bool is_done(int slot) = 0;
  /// Copy from and to the slot's memory, and wait for the copy. The slot's stream must have no work
  /// left.
  virtual void read(int slot, const void* from, void* to, std::int64_t bytes) = 0;
  virtual void write(int slot, const void* from, void* to, std::int64_t bytes) = 0;
  /// Enqueues a copy inside the slot's memory on the slot's stream. The ranges must not overlap.
  virtual void copy(int slot, const void* from, void* to, std::int64_t bytes) = 0;
  /// Enqueues a short pause on the slot's stream. So work that does not wait for the stream is
  /// likely to overtake it.
  virtual void pause(int slot) = 0;

  /// From now on, work that this thread enqueues on the slot's stream goes into a CUDA graph, and
  /// is not done. Ends with end_capture() or abandon_capture().
  virtual void begin_capture(int slot) = 0;
  /// Returns the number of the graph, which contains the addresses of its buffers.
  [[nodiscard]] virtual int end_capture(int slot) = 0;
  /// Ends the capture after an error, if there is one, and drops the captured work.
  virtual void abandon_capture(int slot) noexcept = 0;
  /// Enqueues the graph on the stream of its slot.
  virtual void launch(int graph) = 0;
  /// Drops all graphs. Their launches must be done.
  virtual void drop_graphs() = 0;

  /// Allocates memory of the slot, aligned to 256 bytes and valid until begin(). Its content is
  /// undefined.
  std::byte* allocate(int slot, std::int64_t bytes);
  /// Takes all allocated memory back.
  void begin();

 protected:
  /// Allocates memory that lasts as long as this object.
  virtual std::byte* obtain(int slot, std::int64_t bytes) = 0;

 private:
  struct Block {
    std::byte* begin = nullptr;
    std::int64_t bytes = 0;
    bool is_free = true;
  };
  std::vector<std::vector<Block>> blocks_;
};

/// Replaces a CUDA graph on host memory: each part enqueues one piece of work on its stream.
struct HostGraph {
  std::vector<std::function<void()>> parts;
};

/// Replaces a stream on host memory. Whoever enqueues work takes the next number from `given`. The
/// work begins when `done` has reached its number, and then calls finish().
struct HostStream {
  std::atomic<std::uint64_t> given{0};
  std::atomic<std::uint64_t> done{0};
  /// Called after each change of `done`, if not null: the first one by the program, the second one
  /// by NCCL's stand-in. Both do work of the stream.
  std::array<std::atomic<const std::function<void()>*>, 2> listeners{};
  /// The graph into which work goes that is enqueued now. Null if the work is to be done.
  HostGraph* capture = nullptr;

  [[nodiscard]] bool is_idle() const { return done.load() == given.load(); }
  void finish() {
    ++done;
    for (const auto& each : listeners) {
      const std::function<void()>* const listener = each.load();
      if (listener != nullptr) (*listener)();
    }
  }
};

/// How many CUDA devices this process can use. If none, `why_none` says why and how to fix it.
struct CudaPresence {
  int devices = 0;
  std::string why_none;
  /// The least compute capability of the devices, times ten: 90 for 9.0.
  int least_capability = 0;
};
[[nodiscard]] CudaPresence find_cuda();
/// Whether each of the first `devices` CUDA devices can use the memory of every other one. Throws
/// DeviceError.
[[nodiscard]] bool all_reach_peers(int devices);
/// The versions of driver and runtime, and the names of the devices.
struct CudaVersions {
  std::string driver;
  std::string runtime;
  std::vector<std::string> devices;
};
[[nodiscard]] CudaVersions cuda_versions();

/// Slot s is on CUDA device physical[s]. Throws DeviceError.
[[nodiscard]] std::unique_ptr<Devices> make_cuda_devices(std::span<const int> physical);
/// Slots in host memory.
[[nodiscard]] std::unique_ptr<Devices> make_host_devices(int slots);

}  // namespace rankcheck::gpu::nccl
