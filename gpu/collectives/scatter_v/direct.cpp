#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::scatter {
plan::Algorithm direct();
}

namespace rankcheck::gpu::scatter_v {

/// The even operation's algorithm: schedules see blocks, whatever their sizes.
plan::Algorithm direct() {
  return scatter::direct();
}

}  // namespace rankcheck::gpu::scatter_v
