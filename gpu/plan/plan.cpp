#include "gpu/plan/plan.hpp"

#include <cstddef>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::plan {

void Plan::reset(int ranks) {
  steps.resize(spec::to_size(ranks));
  for (auto& program : steps) program.clear();
  sources.clear();
  scratch.assign(spec::to_size(ranks), 0);
  events = ranks;
  divisor = ranks;
}

}  // namespace rankcheck::gpu::plan
