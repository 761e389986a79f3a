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

/// Kernels: copyable functors whose members are RANKCHECK_HD. Different calls of one launch must
/// not write the same place, nor read what another one writes. They are taken by value, so that the
/// compiler knows that no store changes them.
namespace rankcheck::gpu {

/// Loops over kernels are compiled for AVX2 too, and the processor chooses when the program starts:
/// the same operations with the same roundings, twice as many at a time.
#if defined(RANKCHECK_CLONE_LOOPS) && defined(__x86_64__)
#define RANKCHECK_CLONED __attribute__((target_clones("avx2", "default")))
#else
#define RANKCHECK_CLONED
#endif

/// Calls kernel(i) for 0 <= i < count on the device of a rank, in any order.
template <class Kernel>
RANKCHECK_CLONED static void launch(Cluster& /*cluster*/,
                                    int /*rank*/,
                                    std::int64_t count,
                                    Kernel kernel) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) kernel(i);
}

/// Calls kernel(row, c) for row = kernel.row(r), 0 <= r < rows, and row.first <= c < row.end on the
/// device of a rank, in any order. What row() finds out is the same for a whole row; a processor
/// asks for it once.
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
