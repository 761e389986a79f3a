#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::reduce_scatter {
plan::Algorithm recursive_halving();
}

namespace rankcheck::gpu::reduce_scatter_v {

/// The even operation's algorithm: schedules see blocks, whatever their sizes.
plan::Algorithm recursive_halving() {
  return reduce_scatter::recursive_halving();
}

}  // namespace rankcheck::gpu::reduce_scatter_v
