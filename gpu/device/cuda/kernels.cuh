#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cuda_runtime_api.h>

#include "gpu/device/cuda/streams.hpp"

/// The element-wise kernels that steps of a plan become on a CUDA device.
namespace rankcheck::gpu::cuda {

/// Enqueues what gpu/device/sim/combine.hpp does at once, with the same roundings: combines `count`
/// elements of each of up to reduce_pass::sources_max sources, divides by `divisor` and writes them
/// to `destination`, which may be one of the sources. The returned code tells whether the launch
/// was accepted, not whether it ran.
[[nodiscard]] cudaError_t combine(spec::Type type,
                                  spec::ReduceOp op,
                                  std::byte* destination,
                                  std::span<const Source> sources,
                                  std::int64_t count,
                                  int divisor,
                                  cudaStream_t stream);

}  // namespace rankcheck::gpu::cuda
