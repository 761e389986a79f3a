#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/gather.hpp"

namespace rankcheck::gpu::gather {

plan::Algorithm binomial() {
  return {.name = "binomial",
          .summary = "Blocks move up a binomial tree: log2(n) steps, few messages at the root.",
          .plan = plan::binomial_gather};
}

}  // namespace rankcheck::gpu::gather
