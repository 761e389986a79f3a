#include "gpu/plan/plan.hpp"

#include <cstddef>

namespace rankcheck::gpu::plan {

void Plan::reset(int ranks) {
  steps.resize(static_cast<std::size_t>(ranks));
  for (auto& program : steps) program.clear();
  sources.clear();
  scratch.assign(static_cast<std::size_t>(ranks), 0);
  events = ranks;
}

}  // namespace rankcheck::gpu::plan
