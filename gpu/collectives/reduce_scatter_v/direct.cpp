#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::reduce_scatter {
plan::Algorithm direct();
}

namespace rankcheck::gpu::reduce_scatter_v {

/// Uses the algorithm of the operation with equal blocks: it works for blocks of any size.
plan::Algorithm direct() {
  return reduce_scatter::direct();
}

}  // namespace rankcheck::gpu::reduce_scatter_v
