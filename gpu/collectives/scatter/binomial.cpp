#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/gather.hpp"

namespace rankcheck::gpu::scatter {

plan::Algorithm binomial() {
  return {.name = "binomial",
          .summary = "Blocks move down a binomial tree: log2(n) steps, few messages at the root.",
          .plan = plan::binomial_scatter};
}

}  // namespace rankcheck::gpu::scatter
