#pragma once

#include <utility>

#include <cuda_runtime.h>

namespace rankcheck::gpu::cuda {

/// Launches a kernel on a stream. The arguments are copied to the kernel's parameters before the
/// return. The returned code says whether the launch was accepted, not whether the kernel ran.
template <class... Parameters, class... Arguments>
[[nodiscard]] cudaError_t start(void (*kernel)(Parameters...),
                                unsigned blocks,
                                unsigned threads,
                                cudaStream_t stream,
                                Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

}  // namespace rankcheck::gpu::cuda
