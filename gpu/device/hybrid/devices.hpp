#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/device/cluster.hpp"
#include "gpu/device/source.hpp"

namespace rankcheck::gpu::hybrid {

/// The devices of one process. In a call, the ranks of this process have the places 0, 1, … in the
/// order of their ranks in the group. The work of one place is done in order.
class Devices {
 public:
  virtual ~Devices() = default;

  /// Starts a call: place p is on device devices[p] of this process. Takes back all memory of the
  /// call before.
  virtual void begin(std::span<const int> devices) = 0;
  /// Throws DeviceError if memory outside the allocated memory was written. Only simulated devices
  /// notice it.
  virtual void end() = 0;
  /// Memory, kernels and transforms of the devices. The ranks of this cluster are the places.
  [[nodiscard]] virtual Cluster& cluster() = 0;

  /// Gives work to a place. Sources and destination may be memory of other places.
  virtual void combine(int place, const Combination& what) = 0;
  /// The event happens when all earlier work of the place is done.
  virtual void record(int place, std::int32_t event) = 0;
  /// All later work of the place waits for the event, which must have been recorded.
  virtual void wait(int place, std::int32_t event) = 0;
  /// Waits for all work of all places.
  virtual void synchronize() = 0;

  /// Whether the devices still work. After most errors of a kernel, only a new process can go on.
  [[nodiscard]] virtual bool still_work() const = 0;
  /// Whether the devices' memory is CUDA's. Otherwise it is memory of this process, which every MPI
  /// library takes.
  [[nodiscard]] virtual bool has_cuda_memory() const = 0;
  /// Names and versions of what the devices need, for reports.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> versions() const = 0;
};

/// Makes `count` devices for a process whose first device is number `first` among the devices of
/// all processes. A program links one kind of devices, which defines this function and the next
/// one. Throws DeviceError.
[[nodiscard]] std::unique_ptr<Devices> make_devices(int count, int first);
/// Everything that keeps this process from using the devices: one entry of one line for each
/// problem.
[[nodiscard]] std::vector<std::string> device_complaints();

}  // namespace rankcheck::gpu::hybrid
