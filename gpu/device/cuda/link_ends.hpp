#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/device/cluster.hpp"
#include "gpu/device/cuda/link.hpp"

namespace rankcheck::gpu::cuda {

/// A physical device, as the runtime numbers them.
struct DeviceInfo {
  std::string name;
  /// Names the board itself, whatever its number is: "0000:3b:00.0".
  std::string bus;
  /// "9.0".
  std::string capability;
  std::int64_t memory_bytes = 0;
};

/// A kernel of one device cannot read the memory of another one.
class Unreachable : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// The physical devices; none where none can be used.
[[nodiscard]] std::vector<DeviceInfo> physical_devices();

/// Makes buffers of at most `bytes` bytes, fewer where there is less room, on two physical devices,
/// which may be one. Throws DeviceError, and Unreachable where the method is what cannot be done.
[[nodiscard]] std::unique_ptr<LinkEnds> make_link_ends(int from,
                                                       int to,
                                                       std::int64_t bytes,
                                                       Method method);

}  // namespace rankcheck::gpu::cuda
