#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::all_to_all {
plan::Algorithm bruck();
}

namespace rankcheck::gpu::all_to_all_v {

/// Uses the algorithm of the operation with equal blocks: it works for blocks of any size.
plan::Algorithm bruck() {
  return all_to_all::bruck();
}

}  // namespace rankcheck::gpu::all_to_all_v
