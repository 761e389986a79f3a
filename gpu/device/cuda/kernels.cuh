#pragma once

#include <cuda_runtime_api.h>

#include "gpu/device/source.hpp"

/// The element-wise kernels that execute steps of a plan on a CUDA device.
namespace rankcheck::gpu::cuda {

/// Enqueues the work that gpu/device/sim/combine.hpp does at once, with the same roundings. There
/// are at most reduce_pass::sources_max sources. The returned code says whether the launch was
/// accepted, not whether the kernel ran.
[[nodiscard]] cudaError_t combine(const Combination& what, cudaStream_t stream);

}  // namespace rankcheck::gpu::cuda
