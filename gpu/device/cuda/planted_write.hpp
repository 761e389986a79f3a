#pragma once

namespace rankcheck::gpu::cuda {

/// Lets a kernel write behind the end of its memory on the first device, and waits for it. Nothing
/// but a sanitizer notices: the driver gives memory in larger pieces. Errors that come of the write
/// are ignored. Throws DeviceError if the kernel cannot be started.
void write_out_of_bounds();

}  // namespace rankcheck::gpu::cuda
