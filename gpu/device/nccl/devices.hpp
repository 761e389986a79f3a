#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace rankcheck::gpu::nccl {

/// The devices of one process, a slot for each of its ranks: memory, a stream, and waiting. All
/// that this backend asks of CUDA, so that a form on host memory can stand in for it.
class Devices {
 public:
  explicit Devices(int slots) : blocks_(static_cast<std::size_t>(slots)) {}
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;
  virtual ~Devices() = default;

  /// Makes the slot's device the one that NCCL's calls speak of.
  virtual void use(int slot) = 0;
  /// The slot's stream, as NCCL takes it.
  [[nodiscard]] virtual cudaStream_t stream(int slot) = 0;
  /// Whether all work given to the slot's stream is done. Throws DeviceError where some failed.
  [[nodiscard]] virtual bool is_done(int slot) = 0;
  /// Copies from and to the slot's memory; its stream must have nothing to do.
  virtual void read(int slot, const void* from, void* to, std::int64_t bytes) = 0;
  virtual void write(int slot, const void* from, void* to, std::int64_t bytes) = 0;

  /// Memory of the slot, aligned to 256 bytes, until begin(); its content is undefined.
  std::byte* allocate(int slot, std::int64_t bytes);
  /// Takes all memory back.
  void begin();

 protected:
  /// Memory that lasts as long as this object.
  virtual std::byte* obtain(int slot, std::int64_t bytes) = 0;

 private:
  struct Block {
    std::byte* begin = nullptr;
    std::int64_t bytes = 0;
    bool is_free = true;
  };
  std::vector<std::vector<Block>> blocks_;
};

/// What stands for a stream where memory is the host's: NCCL's stand-in counts up when it is given
/// work and down when that is done.
struct HostStream {
  std::atomic<int> pending{0};
};

/// How many CUDA devices this process can use; why it can use none, and what would mend that.
struct CudaPresence {
  int devices = 0;
  std::string why_none;
  /// Of the devices, times ten: 90 where it is 9.0.
  int least_capability = 0;
};
[[nodiscard]] CudaPresence find_cuda();
/// Names and versions: driver, runtime and the devices' names.
struct CudaVersions {
  std::string driver;
  std::string runtime;
  std::vector<std::string> devices;
};
[[nodiscard]] CudaVersions cuda_versions();

/// Slot s on CUDA device physical[s]. Throws DeviceError.
[[nodiscard]] std::unique_ptr<Devices> make_cuda_devices(std::span<const int> physical);
/// Slots in host memory.
[[nodiscard]] std::unique_ptr<Devices> make_host_devices(int slots);

}  // namespace rankcheck::gpu::nccl
