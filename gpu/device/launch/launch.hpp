#pragma once

#include <cstdint>

#include "gpu/device/cluster.hpp"
#include "gpu/device/element.hpp"

#if defined(RANKCHECK_NO_KERNELS)
#error "kernels are compiled with the operators alone"
#endif

#if defined(__CUDACC__)
#include "gpu/device/cuda/launch.cuh"
#else

/// Kernels are copyable functors whose members are RANKCHECK_HD. Two calls of the same launch must
/// not write the same address, and none may read what another one writes. Kernels are taken by
/// value, so that the compiler knows that no store changes them.
namespace rankcheck::gpu {

/// Loops over kernels are compiled for AVX2 too, and the program chooses the version for the
/// processor when it starts. Both do the same operations with the same roundings; AVX2 does twice
/// as many at a time.
#if defined(RANKCHECK_CLONE_LOOPS) && defined(__x86_64__)
#define RANKCHECK_CLONED __attribute__((target_clones("avx2", "default")))
#else
#define RANKCHECK_CLONED
#endif

/// Calls kernel(i) for 0 <= i < count on a rank's device, in any order.
template <class Kernel>
RANKCHECK_CLONED static void launch(Cluster& /*cluster*/,
                                    int /*rank*/,
                                    std::int64_t count,
                                    Kernel kernel) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) kernel(i);
}

/// Calls kernel(row, c) on a rank's device, in any order, for row = kernel.row(r), 0 <= r < rows,
/// and row.first <= c < row.end. The result of row() serves a whole row; on the host it is computed
/// once for each row.
template <class Kernel>
RANKCHECK_CLONED static void launch_rows(Cluster& /*cluster*/,
                                         int /*rank*/,
                                         std::int64_t rows,
                                         Kernel kernel) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = kernel.row(r);
#pragma GCC ivdep
    for (std::int64_t c = row.first; c < row.end; ++c) kernel(row, c);
  }
}

}  // namespace rankcheck::gpu

#endif
