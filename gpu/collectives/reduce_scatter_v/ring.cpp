#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::reduce_scatter {
plan::Algorithm ring();
}

namespace rankcheck::gpu::reduce_scatter_v {

/// The even operation's algorithm: schedules see blocks, whatever their sizes.
plan::Algorithm ring() {
  return reduce_scatter::ring();
}

}  // namespace rankcheck::gpu::reduce_scatter_v
