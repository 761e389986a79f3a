#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::all_gather {
plan::Algorithm ring();
}

namespace rankcheck::gpu::all_gather_v {

/// The even operation's algorithm: schedules see blocks, whatever their sizes.
plan::Algorithm ring() {
  return all_gather::ring();
}

}  // namespace rankcheck::gpu::all_gather_v
