#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::gather {
plan::Algorithm direct();
}

namespace rankcheck::gpu::gather_v {

/// Uses the algorithm of the operation with equal blocks: it works for blocks of any size.
plan::Algorithm direct() {
  return gather::direct();
}

}  // namespace rankcheck::gpu::gather_v
