#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::scatter {
plan::Algorithm binomial();
}

namespace rankcheck::gpu::scatter_v {

/// Uses the algorithm of the operation with equal blocks: it works for blocks of any size.
plan::Algorithm binomial() {
  return scatter::binomial();
}

}  // namespace rankcheck::gpu::scatter_v
