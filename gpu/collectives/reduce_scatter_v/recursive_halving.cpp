#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::reduce_scatter {
plan::Algorithm recursive_halving();
}

namespace rankcheck::gpu::reduce_scatter_v {

/// Uses the algorithm of the operation with equal blocks: it works for blocks of any size.
plan::Algorithm recursive_halving() {
  return reduce_scatter::recursive_halving();
}

}  // namespace rankcheck::gpu::reduce_scatter_v
