#pragma once

#include <cstdint>

#include "gpu/device/cluster.hpp"
#include "gpu/device/element.hpp"

/// Kernels: copyable functors whose members are RANKCHECK_HD. Different calls of one launch must
/// not write the same place, nor read what another one writes.
namespace rankcheck::gpu {

/// Calls kernel(i) for 0 <= i < count on the device of a rank, in any order.
template <class Kernel>
void launch(Cluster& /*cluster*/, int /*rank*/, std::int64_t count, const Kernel& kernel) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) kernel(i);
}

/// Calls kernel(kernel.row(r), c) for 0 <= r < rows and 0 <= c < cols on the device of a rank, in
/// any order. What row() finds out is the same for a whole row; a processor asks for it once.
template <class Kernel>
void launch_rows(Cluster& /*cluster*/,
                 int /*rank*/,
                 std::int64_t rows,
                 std::int64_t cols,
                 const Kernel& kernel) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = kernel.row(r);
#pragma GCC ivdep
    for (std::int64_t c = 0; c < cols; ++c) kernel(row, c);
  }
}

}  // namespace rankcheck::gpu
