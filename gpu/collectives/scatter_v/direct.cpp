#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::scatter {
plan::Algorithm direct();
}

namespace rankcheck::gpu::scatter_v {

/// Uses the algorithm of the operation with equal blocks: it works for blocks of any size.
plan::Algorithm direct() {
  return scatter::direct();
}

}  // namespace rankcheck::gpu::scatter_v
