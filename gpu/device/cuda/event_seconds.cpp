#include "gpu/device/cuda/event_seconds.hpp"

#include <sstream>

namespace rankcheck::gpu::cuda {

std::string EventSeconds::why_impossible() const {
  // As no comparison with what is not a number does, neither of these holds for that.
  if (device > 0 && device <= host) return {};
  std::ostringstream why;
  why << "CUDA's events took " << device << " s: expected more than 0, and no more than the "
      << host << " s of the host";
  return why.str();
}

}  // namespace rankcheck::gpu::cuda
