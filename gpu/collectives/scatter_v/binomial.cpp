#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::scatter {
plan::Algorithm binomial();
}

namespace rankcheck::gpu::scatter_v {

/// The even operation's algorithm: schedules see blocks, whatever their sizes.
plan::Algorithm binomial() {
  return scatter::binomial();
}

}  // namespace rankcheck::gpu::scatter_v
