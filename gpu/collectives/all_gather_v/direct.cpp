#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::all_gather {
plan::Algorithm direct();
}

namespace rankcheck::gpu::all_gather_v {

/// The even operation's algorithm: schedules see blocks, whatever their sizes.
plan::Algorithm direct() {
  return all_gather::direct();
}

}  // namespace rankcheck::gpu::all_gather_v
