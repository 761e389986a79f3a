#pragma once

#include <string>

namespace rankcheck::gpu {

/// The release of NVIDIA's driver that the text of /proc/driver/nvidia/version names, such as
/// "580.159.04". CUDA's own version of the driver stays the same from one release to the next.
/// Empty if the text names none.
[[nodiscard]] std::string driver_release_in(const std::string& text);

/// The release of this machine's driver. Empty if there is no driver of NVIDIA's.
[[nodiscard]] std::string driver_release();

}  // namespace rankcheck::gpu
