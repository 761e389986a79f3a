#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::reduce_scatter {
plan::Algorithm direct();
}

namespace rankcheck::gpu::reduce_scatter_v {

/// The even operation's algorithm: schedules see blocks, whatever their sizes.
plan::Algorithm direct() {
  return reduce_scatter::direct();
}

}  // namespace rankcheck::gpu::reduce_scatter_v
