#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/device/cluster.hpp"
#include "gpu/device/cuda/link.hpp"

namespace rankcheck::gpu::cuda {

/// A physical device. The runtime's numbers are the indices of physical_devices().
struct DeviceInfo {
  std::string name;
  /// The PCI address, which identifies the board whatever its number is: "0000:3b:00.0".
  std::string bus;
  /// The compute capability, for example "9.0".
  std::string capability;
  std::int64_t memory_bytes = 0;
};

/// Thrown if a kernel of one device cannot read the memory of another one.
class Unreachable : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// The physical devices; empty if none can be used.
[[nodiscard]] std::vector<DeviceInfo> physical_devices();

/// Makes buffers of at most `bytes` bytes, or fewer if less memory is free, on two physical
/// devices, which may be the same. Throws Unreachable if the devices do not allow the method, and
/// DeviceError for any other failure.
[[nodiscard]] std::unique_ptr<LinkEnds> make_link_ends(int from,
                                                       int to,
                                                       std::int64_t bytes,
                                                       Method method);

}  // namespace rankcheck::gpu::cuda
