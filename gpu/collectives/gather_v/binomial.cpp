#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::gather {
plan::Algorithm binomial();
}

namespace rankcheck::gpu::gather_v {

/// Uses the algorithm of the operation with equal blocks: it works for blocks of any size.
plan::Algorithm binomial() {
  return gather::binomial();
}

}  // namespace rankcheck::gpu::gather_v
