#include "gpu/device/cuda/event_seconds.hpp"

#include <sstream>

namespace rankcheck::gpu::cuda {

std::string EventSeconds::why_impossible() const {
  // Both comparisons are false for NaN, so NaN is impossible too.
  if (device > 0 && device <= host) return {};
  std::ostringstream why;
  why << "CUDA's events took " << device << " s: expected more than 0, and no more than the "
      << host << " s of the host";
  return why.str();
}

}  // namespace rankcheck::gpu::cuda
