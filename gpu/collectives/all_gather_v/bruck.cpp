#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::all_gather {
plan::Algorithm bruck();
}

namespace rankcheck::gpu::all_gather_v {

/// The even operation's algorithm: schedules see blocks, whatever their sizes.
plan::Algorithm bruck() {
  return all_gather::bruck();
}

}  // namespace rankcheck::gpu::all_gather_v
