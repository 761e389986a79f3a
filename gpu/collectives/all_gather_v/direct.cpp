#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::all_gather {
plan::Algorithm direct();
}

namespace rankcheck::gpu::all_gather_v {

/// Uses the algorithm of the operation with equal blocks: it works for blocks of any size.
plan::Algorithm direct() {
  return all_gather::direct();
}

}  // namespace rankcheck::gpu::all_gather_v
