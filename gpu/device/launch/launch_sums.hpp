#pragma once

#include <cstdint>

#include "gpu/device/launch/launch.hpp"

#if defined(__CUDACC__)
#include "gpu/device/cuda/launch_sums.cuh"
#else

namespace rankcheck::gpu {

/// Computes a row of launch_sums() term by term, so that kernel.term() is called once for each
/// term.
template <class Kernel>
struct SumRow {
  Kernel kernel;

  void operator()(std::int64_t r) const {
    const auto row = kernel.row(r);
    for (std::int64_t k = 0; k < row.count; ++k) {
      const auto term = kernel.term(row, k);
#pragma GCC ivdep
      for (std::int64_t c = term.first; c < term.end; ++c) {
        kernel.at(row, c) += kernel(row, term, c);
      }
    }
  }
};

/// Adds terms to the columns of rows on a rank's device. For
/// - every row = kernel.row(r), 0 <= r < rows,
/// - every term = kernel.term(row, k), 0 <= k < row.count, and
/// - every column c with term.first <= c < term.end, inside row.first … row.end,
/// it computes kernel.at(row, c) += kernel(row, term, c). A column adds its terms in the order of
/// k; any other order is free.
template <class Kernel>
void launch_sums(Cluster& cluster, int rank, std::int64_t rows, const Kernel& kernel) {
  launch(cluster, rank, rows, SumRow<Kernel>{kernel});
}

}  // namespace rankcheck::gpu

#endif
