#include "gpu/plan/plan.hpp"

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::plan {

void Plan::reset(int ranks) {
  steps.resize(spec::to_size(ranks));
  for (auto& program : steps) program.clear();
  sources.clear();
  scratch.assign(spec::to_size(ranks), 0);
  events = ranks;
  arithmetic.assign(spec::to_size(ranks), {});
  divisors.assign(spec::to_size(ranks), ranks);
  groups.clear();
  late.clear();
  order.clear();
}

bool Plan::share_call(int a, int b) const {
  return groups.empty() || groups[spec::to_size(a)] == groups[spec::to_size(b)];
}

}  // namespace rankcheck::gpu::plan
