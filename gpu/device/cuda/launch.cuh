#pragma once

#include <algorithm>
#include <cstdint>

#include "gpu/device/cluster.hpp"
#include "gpu/device/cuda/error.hpp"
#include "gpu/device/cuda/start.cuh"

/// Replaces gpu/device/launch/launch.hpp when operators are compiled for CUDA devices.
namespace rankcheck::gpu {

namespace cuda {

inline constexpr int threads_of_block = 256;

template <class Kernel>
__global__ void launched(std::int64_t count, const __grid_constant__ Kernel kernel) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < count; i += stride) kernel(i);
}

/// Each block processes one row, or several if there are more rows than blocks.
template <class Kernel>
__global__ void launched_rows(std::int64_t rows, const __grid_constant__ Kernel kernel) {
  for (std::int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const auto row = kernel.row(r);
    for (std::int64_t c = row.first + threadIdx.x; c < row.end; c += blockDim.x) kernel(row, c);
  }
}

inline constexpr std::int64_t blocks_max = 1 << 16;

/// The number of blocks for `count` calls, enough to fill any device. With more calls, each thread
/// does several.
inline unsigned blocks_for(std::int64_t count) {
  return static_cast<unsigned>(
      std::min(blocks_max, (count + threads_of_block - 1) / threads_of_block));
}

}  // namespace cuda

/// Calls kernel(i) for 0 <= i < count on a rank's device, in any order.
template <class Kernel>
void launch(Cluster& cluster, int rank, std::int64_t count, const Kernel& kernel) {
  if (count <= 0) return;
  const auto stream = static_cast<cudaStream_t>(cluster.queue(rank));
  cuda::check(cuda::start(cuda::launched<Kernel>,
                          cuda::blocks_for(count),
                          cuda::threads_of_block,
                          stream,
                          count,
                          kernel),
              "a kernel");
}

/// Calls kernel(row, c) on a rank's device, in any order, for row = kernel.row(r), 0 <= r < rows,
/// and row.first <= c < row.end.
template <class Kernel>
void launch_rows(Cluster& cluster, int rank, std::int64_t rows, const Kernel& kernel) {
  if (rows <= 0) return;
  constexpr int threads = 128;
  const auto stream = static_cast<cudaStream_t>(cluster.queue(rank));
  const auto blocks = static_cast<unsigned>(std::min(cuda::blocks_max, rows));
  cuda::check(cuda::start(cuda::launched_rows<Kernel>, blocks, threads, stream, rows, kernel),
              "a kernel");
}

}  // namespace rankcheck::gpu
