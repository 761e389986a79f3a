#pragma once

#include <cstdint>

#include "gpu/device/cluster.hpp"
#include "gpu/device/element.hpp"

#include "tests/gpu/device/guarded/memory.hpp"

/// What gpu/device/launch.hpp is where operators are compiled for guarded devices: kernels touch
/// the memory of their own device, and nobody else does.
namespace rankcheck::gpu {

template <class Kernel>
static void launch(Cluster& cluster, int rank, std::int64_t count, Kernel kernel) {
  const GuardedMemory::Open open(static_cast<GuardedMemory*>(cluster.queue(rank)));
  for (std::int64_t i = 0; i < count; ++i) kernel(i);
}

template <class Kernel>
static void launch_rows(Cluster& cluster, int rank, std::int64_t rows, Kernel kernel) {
  const GuardedMemory::Open open(static_cast<GuardedMemory*>(cluster.queue(rank)));
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = kernel.row(r);
    for (std::int64_t c = row.first; c < row.end; ++c) kernel(row, c);
  }
}

}  // namespace rankcheck::gpu
