#pragma once

#include <algorithm>
#include <cstdint>

#include "gpu/device/cluster.hpp"
#include "gpu/device/cuda/error.hpp"
#include "gpu/device/cuda/launch.cuh"

/// Replaces gpu/device/launch/launch_sums.hpp when operators are compiled for CUDA devices.
namespace rankcheck::gpu {

namespace cuda {

/// Each block processes one row, or several if there are more rows than blocks. A thread computes
/// the sum of one column.
template <class Kernel>
__global__ void launched_sums(std::int64_t rows, const __grid_constant__ Kernel kernel) {
  for (std::int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const auto row = kernel.row(r);
    for (std::int64_t c = row.first + threadIdx.x; c < row.end; c += blockDim.x) {
      auto sum = kernel.at(row, c);
      for (std::int64_t k = 0; k < row.count; ++k) {
        const auto term = kernel.term(row, k);
        if (c >= term.first && c < term.end) sum += kernel(row, term, c);
      }
      kernel.at(row, c) = sum;
    }
  }
}

}  // namespace cuda

/// Adds terms to the columns of rows on a rank's device. Each column adds its terms in the order of
/// k.
template <class Kernel>
void launch_sums(Cluster& cluster, int rank, std::int64_t rows, const Kernel& kernel) {
  if (rows <= 0) return;
  constexpr int threads = 128;
  const auto stream = static_cast<cudaStream_t>(cluster.queue(rank));
  const auto blocks = static_cast<unsigned>(std::min(cuda::blocks_max, rows));
  cuda::check(cuda::start(cuda::launched_sums<Kernel>, blocks, threads, stream, rows, kernel),
              "a kernel");
}

}  // namespace rankcheck::gpu
