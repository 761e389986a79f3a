#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/device/cluster.hpp"
#include "gpu/device/cuda/link.hpp"

namespace rankcheck::gpu::cuda {

/// Thrown if a kernel of one device cannot read the memory of another one.
class Unreachable : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// The physical devices, without what provides their memory; empty if none can be used. The
/// runtime's numbers are the indices.
[[nodiscard]] std::vector<DeviceInfo> physical_devices();

/// Makes buffers of at most `bytes` bytes, or fewer if less memory is free, on two physical
/// devices, which may be the same. Throws Unreachable if the devices do not allow the method, and
/// DeviceError for any other failure.
[[nodiscard]] std::unique_ptr<LinkEnds> make_link_ends(int from,
                                                       int to,
                                                       std::int64_t bytes,
                                                       Method method);

}  // namespace rankcheck::gpu::cuda
