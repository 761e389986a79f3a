#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::gather {
plan::Algorithm binomial();
}

namespace rankcheck::gpu::gather_v {

/// The even operation's algorithm: schedules see blocks, whatever their sizes.
plan::Algorithm binomial() {
  return gather::binomial();
}

}  // namespace rankcheck::gpu::gather_v
