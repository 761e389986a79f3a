#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cuda_runtime_api.h>

#include "gpu/device/cuda/streams.hpp"

/// The element-wise kernels that execute steps of a plan on a CUDA device.
namespace rankcheck::gpu::cuda {

/// Enqueues the work that gpu/device/sim/combine.hpp does at once, with the same roundings. It
/// combines `count` elements of each source, divides by `divisor` and writes to `destination`,
/// which may be one of the sources. There are at most reduce_pass::sources_max sources. The
/// returned code says whether the launch was accepted, not whether the kernel ran.
[[nodiscard]] cudaError_t combine(spec::Type type,
                                  spec::ReduceOp op,
                                  std::byte* destination,
                                  std::span<const Source> sources,
                                  std::int64_t count,
                                  int divisor,
                                  cudaStream_t stream);

}  // namespace rankcheck::gpu::cuda
