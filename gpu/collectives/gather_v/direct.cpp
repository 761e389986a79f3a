#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::gather {
plan::Algorithm direct();
}

namespace rankcheck::gpu::gather_v {

/// The even operation's algorithm: schedules see blocks, whatever their sizes.
plan::Algorithm direct() {
  return gather::direct();
}

}  // namespace rankcheck::gpu::gather_v
